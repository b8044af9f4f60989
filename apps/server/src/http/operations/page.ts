import { envelope } from '../envelope.ts';
import { FinishedReply } from '../route-handler.ts';

/**
 * The answer of a list whose entries arrive in portions, as JSON texts. Each portion is encoded before the next is
 * read, so that only the answer itself grows, and the process serves other requests between portions.
 */
export async function listReply(
  fields: object,
  name: string,
  portions: AsyncIterable<readonly string[]>,
): Promise<FinishedReply> {
  const end = ']}}';
  const empty = envelope.success({ ...fields, [name]: [] });
  const chunks = [Buffer.from(empty.slice(0, -end.length))];
  for await (const portion of portions) {
    const comma = chunks.length > 1 ? ',' : '';
    chunks.push(Buffer.from(comma + portion.join(',')));
  }
  return new FinishedReply(Buffer.concat([...chunks, Buffer.from(end)]));
}

/** Portions of the entries in their public form. */
export async function* shownPortions<Entry>(
  portions: AsyncIterable<readonly Entry[]>,
  show: (entry: Entry) => string,
): AsyncGenerator<readonly string[]> {
  for await (const portion of portions) yield portion.map(show);
}
