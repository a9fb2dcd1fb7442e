// Inputs and outputs of a transaction, side by side.

import { useState } from 'preact/hooks';
import { Amount } from '../../parts/amount';
import { grouped } from '../../parts/amounts';
import { ShortHash } from '../../parts/hash';
import { isSameAddress } from '../address/own';
import { readableRuns, textOfHex } from '../../parts/texts';
import { scriptHash } from '../data/addresses';
import { useHasScripts } from '../state/session';
import { addressLink, subjectLink, transactionLink } from '../state/links';
import { dataOf, kindText } from './kinds';
import { InputDetails, OutputDetails } from './script-details';
import type { JSX } from 'preact';
import type { Input, Output, Spend, Transaction } from '../data/types';

/** Rows that come with each press of a button. */
const MORE = 100;

export interface SidesProps {
  readonly transaction: Transaction;
  /** Rows of each side at the beginning. */
  readonly most: number;
  /** Whether scripts can be looked at, and what spends outputs is said. */
  readonly isWhole?: boolean;
  /** For each output; undefined: not known. */
  readonly spends?: readonly (Spend | undefined)[] | undefined;
  /** The number of an output that is pointed out. */
  readonly output?: number | undefined;
  /** An address that is pointed out. */
  readonly address?: string | undefined;
}

export function Sides(props: SidesProps) {
  const { transaction, most, output = 0 } = props;
  const { inputs, outputs } = transaction;
  return (
    <div class="sides">
      <Side title="Inputs" all={inputs} most={most} row={(input, i) => <InputRow key={i} input={input} index={i} {...props} />} />
      <svg class="arrow" viewBox="0 0 20 20" aria-hidden="true">
        <path d="M2 10h14m-5-5 5 5-5 5" />
      </svg>
      <Side
        title="Outputs"
        all={outputs}
        most={Math.max(most, output >= most ? output + 1 : 0)}
        row={(each, i) => <OutputRow key={i} output={each} index={i} props={props} />}
      />
    </div>
  );
}

interface SideProps<T> {
  readonly title: string;
  readonly all: readonly T[];
  readonly most: number;
  readonly row: (one: T, index: number) => JSX.Element;
}

function Side<T>({ title, all, most, row }: SideProps<T>) {
  const [more, setMore] = useState(0);
  const shown = all.slice(0, most + more);
  return (
    <div class="side">
      <h3 class="side-title">
        {title} <span class="quiet">{grouped(all.length)}</span>
      </h3>
      <ol>{shown.map(row)}</ol>
      {shown.length < all.length && (
        <button
          type="button"
          class="plain"
          onClick={() => {
            setMore((n) => n + MORE);
          }}
        >
          {grouped(Math.min(MORE, all.length - shown.length))} more of {grouped(all.length)}
        </button>
      )}
    </div>
  );
}

interface InputRowProps extends Pick<SidesProps, 'isWhole' | 'address'> {
  readonly input: Input;
  readonly index: number;
}

function InputRow({ input, index, isWhole, address }: InputRowProps) {
  const { isCoinbase, spent, txid, vout } = input;
  return (
    <li class="row" data-input={index}>
      <div class="row-head">
        <span class="row-place">
          {isCoinbase ? (
            <CoinbaseText script={input.script} />
          ) : spent === undefined ? (
            <a href={transactionLink(txid, vout)}>
              <ShortHash text={txid} />:{vout}
            </a>
          ) : (
            <Place output={spent} current={address} />
          )}
        </span>
        {spent === undefined ? (
          <span class="quiet small">{isCoinbase ? 'new coins' : 'amount not known'}</span>
        ) : (
          <Amount sats={spent.value} />
        )}
      </div>
      {isWhole === true && <InputDetails input={input} />}
    </li>
  );
}

function CoinbaseText({ script }: { readonly script: string }) {
  const text = readableRuns(script);
  return (
    <>
      <span class="badge">Coinbase</span> <span class="quiet said">{text}</span>
    </>
  );
}

interface OutputRowProps {
  readonly output: Output;
  readonly index: number;
  readonly props: SidesProps;
}

function OutputRow({ output, index, props: { spends, isWhole, output: pointed, address } }: OutputRowProps) {
  const spend = spends?.[index];
  return (
    <li class={pointed === index ? 'row pointed' : 'row'} data-output={index} aria-current={pointed === index ? 'true' : undefined}>
      <div class="row-head">
        <span class="row-place">
          <Place output={output} current={address} />
        </span>
        <Amount sats={output.value} />
      </div>
      {isWhole === true && (
        <OutputDetails output={output}>
          {spends !== undefined &&
            output.kind !== 'op_return' &&
            (spend === undefined ? (
              <span class="badge good">unspent</span>
            ) : (
              <span class="quiet">
                spent by{' '}
                <a href={transactionLink(spend.txid)} data-spend={spend.txid}>
                  <ShortHash text={spend.txid} />
                </a>
                {!spend.isConfirmed && ' (in the pool)'}
              </span>
            ))}
        </OutputDetails>
      )}
    </li>
  );
}

/** Where an output pays to: an address, or what kind of script it is. */
function Place({ output, current }: { readonly output: Output; readonly current: string | undefined }) {
  const { address } = output;
  const hasScripts = useHasScripts();
  if (address !== undefined)
    return current !== undefined && isSameAddress(address, current) ? (
      <code class="address">
        <strong>{address}</strong>
      </code>
    ) : (
      <a class="address" href={addressLink(address)}>
        <code>{address}</code>
      </a>
    );
  const text = output.kind === 'op_return' ? textOfHex(dataOf(output.script), 200) : undefined;
  return (
    <>
      {output.kind === 'op_return' || !hasScripts ? (
        <span class="badge">{kindText(output)}</span>
      ) : (
        <a class="badge" href={subjectLink({ kind: 'scripthash', text: scriptHash(output.script) })}>
          {kindText(output)}
        </a>
      )}
      {text !== undefined && text !== '' && (
        <span class="said" dir="ltr">
          {' '}
          “{text}”
        </span>
      )}
    </>
  );
}
