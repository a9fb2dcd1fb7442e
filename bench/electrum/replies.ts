// Where replies end in what a server sends: in lines, and over HTTP.

/** Takes bytes that were received. */
export type Receive = (chunk: Buffer) => void;

/** `reply`: a line without its end, or a body. */
export type OnReply = (reply: Buffer, isRefused: boolean) => void;

const NEW_LINE = 10;
/** Neither histories nor headers contain it; servers write different spaces behind it. */
const ERROR = Buffer.from('"error"');

export function lineReplies(onReply: OnReply): Receive {
  let begun: Buffer[] = [];
  return (chunk) => {
    for (let at = 0; at < chunk.length;) {
      const end = chunk.indexOf(NEW_LINE, at);
      const part = chunk.subarray(at, end < 0 ? undefined : end);
      at += part.length + 1;
      if (end < 0) begun.push(part);
      else {
        const line = begun.length === 0 ? part : Buffer.concat([...begun, part]);
        begun = [];
        onReply(line, line.includes(ERROR));
      }
    }
  };
}

const HEAD_END = Buffer.from('\r\n\r\n');

/** @throws Error for a reply without a length */
export function httpReplies(onReply: OnReply): Receive {
  let begun: Buffer[] = [];
  let [bytes, wanted] = [0, 0];
  return (chunk) => {
    begun.push(chunk);
    bytes += chunk.length;
    while (bytes > 0 && bytes >= wanted) {
      const all = begun.length === 1 ? (begun[0] as Buffer) : Buffer.concat(begun); // one
      begun = [all];
      const headEnd = all.indexOf(HEAD_END);
      if (headEnd < 0) return;
      const head = all.toString('latin1', 0, headEnd);
      const [, length] = /\r\ncontent-length: *(\d+)/i.exec(head) ?? [];
      if (length === undefined) throw new Error(`expected the length of a reply, got ${head}`);
      const bodyAt = headEnd + HEAD_END.length;
      wanted = bodyAt + Number(length);
      if (bytes < wanted) return;
      onReply(all.subarray(bodyAt, wanted), !head.startsWith('HTTP/1.1 200 '));
      bytes -= wanted;
      begun = bytes === 0 ? [] : [all.subarray(wanted)];
      wanted = 0;
    }
  };
}
