import { type NamedQuery, Packet } from '@florin/pg';
import type pg from 'pg';

/** A row as PostgreSQL writes it. */
export type Fields = readonly (string | null)[];
export type Rows = readonly Fields[];

/** What a statement gave, and what PostgreSQL called it, such as `UPDATE 1`. */
export interface Given {
  readonly rows: Rows;
  readonly command: string;
}

/** What became of the statements of a packet: what those gave that were executed, and why there are not more. */
export interface Outcome {
  readonly given: readonly Given[];
  readonly error?: unknown;
}

/** Production's packet, which keeps what PostgreSQL answers as it came. */
class RecordedPacket extends Packet {
  readonly given: Given[] = [];
  #rows: Fields[] = [];

  override handleDataRow({ fields }: { readonly fields: Fields }): void {
    this.#rows.push(fields);
  }

  override handleCommandComplete(message: { readonly text: string }): void {
    const text = this.queries[this.given.length]?.text ?? '';
    this.given.push({ rows: inSomeOrder(text, this.#rows), command: message.text });
    this.#rows = [];
    super.handleCommandComplete(message);
  }
}

/** Sends statements to PostgreSQL in one packet, as production does. */
export function record(client: pg.Client, queries: readonly NamedQuery[]): Promise<Outcome> {
  const ask = client.query.bind(client) as unknown as (
    packet: Packet,
    callback: (error: unknown) => void,
  ) => void;
  return new Promise((resolve) => {
    const packet = new RecordedPacket(queries);
    ask(packet, (error) => {
      if (error === null || error === undefined) return resolve({ given: packet.given });
      // Of what cannot be read, the packet counts nothing as answered.
      const { length } = packet.answers(error).rows;
      resolve({ given: packet.given.slice(0, length), error });
    });
  });
}

/** Tells a packet what became of its statements, as the driver tells it what comes from PostgreSQL. */
export function answer(packet: Packet, { given, error }: Outcome): void {
  for (const { rows, command } of given) {
    for (const fields of rows) packet.handleDataRow({ fields });
    packet.handleCommandComplete({ text: command });
  }
  if (error === undefined) packet.handleReadyForQuery();
  else packet.callback(error);
}

/**
 * Without `order by` rows come as they lie in the table, which depends on histories before this one. In an order of
 * their own instead, as SQL allows it.
 */
function inSomeOrder(text: string, rows: Rows): Rows {
  if (rows.length < 2 || /order by/i.test(text)) return rows;
  return rows
    .map((row) => ({ row, key: JSON.stringify(row) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ row }) => row);
}
