import { CopyButton } from './copy-button';

const GROUP = 4;
const END = 8;

interface HashProps {
  readonly text: string;
  /** As in `Copy the txid`. */
  readonly what: string;
}

/** A hash or an address whole, in groups that can be compared; selecting it gives it without gaps. */
export function Hash({ text, what }: HashProps) {
  const groups = text.match(new RegExp(`.{1,${GROUP}}`, 'gu')) ?? [];
  return (
    <span class="hash">
      <code>
        {groups.map((group, i) => (
          <span key={i}>{group}</span>
        ))}
      </code>
      <CopyButton text={text} what={what} />
    </span>
  );
}

/** Its beginning and its end. */
export function ShortHash({ text }: { readonly text: string }) {
  if (text.length <= 2 * END + 2) return <code>{text}</code>;
  return (
    <code class="short" title={text}>
      {text.slice(0, END)}…{text.slice(-END)}
    </code>
  );
}
