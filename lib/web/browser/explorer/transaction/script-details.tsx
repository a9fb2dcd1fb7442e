// The scripts and data of an input or output, to be unfolded.

import { useState } from 'preact/hooks';
import { readableRuns, textOfHex } from '../../parts/texts';
import { ShortHash } from '../../parts/hash';
import { grouped } from '../../parts/amounts';
import { transactionLink } from '../state/links';
import { dataOf, kindText } from './kinds';
import { LongText } from './long-text';
import type { ComponentChildren } from 'preact';
import type { Input, Output } from '../data/types';

/** Items of a witness that are shown. */
const MOST_ITEMS = 50;

const REPLACEABLE_BELOW = 0xffff_fffe;

interface DetailsProps {
  readonly summary: ComponentChildren;
  /** For screen readers, behind `Details`. */
  readonly of: string;
  readonly children: () => ComponentChildren;
}

/** What it holds is made only once it is opened. */
function Details({ summary, of, children }: DetailsProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details
      onToggle={({ currentTarget }) => {
        setOpen(currentTarget.open);
      }}
    >
      <summary>
        Details<span class="unseen"> of {of}</span>
        {summary}
      </summary>
      {isOpen && <dl class="scripts">{children()}</dl>}
    </details>
  );
}

function Script({ term, text }: { readonly term: string; readonly text: string | undefined }) {
  if (text === undefined || text === '') return null;
  return (
    <div>
      <dt>{term}</dt>
      <dd>
        <LongText text={text} what={term.toLowerCase()} />
      </dd>
    </div>
  );
}

export function InputDetails({ input }: { readonly input: Input }) {
  const { isCoinbase, txid, vout, spent, sequence, script, asm, witness, redeemScript, witnessScript } = input;
  return (
    <Details
      of="the input"
      summary={
        <span class="quiet">
          {spent === undefined ? '' : ` · ${kindText(spent)}`}
          {sequence < REPLACEABLE_BELOW && !isCoinbase && ' · signals replacement'}
        </span>
      }
    >
      {() => (
        <>
          {!isCoinbase && (
            <div>
              <dt>Spends</dt>
              <dd>
                <a href={transactionLink(txid, vout)}>
                  <ShortHash text={txid} />:{vout}
                </a>
              </dd>
            </div>
          )}
          <div>
            <dt>Sequence</dt>
            <dd>0x{sequence.toString(16).padStart(8, '0')}</dd>
          </div>
          {isCoinbase && <Script term="Readable part" text={readableRuns(script)} />}
          <Script term={isCoinbase ? 'Coinbase (hex)' : 'Script (hex)'} text={script} />
          <Script term="Script" text={asm} />
          {witness.length > 0 && (
            <div>
              <dt>Witness, {witness.length === 1 ? '1 item' : `${grouped(witness.length)} items`}</dt>
              <dd>
                <ol class="witness">
                  {witness.slice(0, MOST_ITEMS).map((item, i) => (
                    <li key={i}>
                      {item === '' ? <span class="quiet">empty</span> : <LongText text={item} what={`witness item ${i + 1}`} />}
                    </li>
                  ))}
                </ol>
                {witness.length > MOST_ITEMS && <p class="quiet small">The others are in the raw transaction.</p>}
              </dd>
            </div>
          )}
          <Script term="Redeem script" text={redeemScript} />
          <Script term="Witness script" text={witnessScript} />
          <Script term="Spent script" text={spent?.asm} />
        </>
      )}
    </Details>
  );
}

export function OutputDetails({ output, children }: { readonly output: Output; readonly children: ComponentChildren }) {
  const { kind, script, asm } = output;
  return (
    <div class="row-foot">
      <Details of="the output" summary={<span class="quiet"> · {kindText(output)}</span>}>
        {() => (
          <>
            {kind === 'op_return' && <Script term="As text" text={textOfHex(dataOf(script), 20_000)} />}
            <Script term="Script" text={asm} />
            <Script term="Script (hex)" text={script} />
          </>
        )}
      </Details>
      {children}
    </div>
  );
}
