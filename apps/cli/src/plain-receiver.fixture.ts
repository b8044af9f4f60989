import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A plain HTTP receiver on this machine, as developers run one. */
export interface PlainReceiver {
  readonly url: string;
  readonly requests: { headers: IncomingHttpHeaders; body: string }[];
  /** The status of its next answers. */
  status: number;
  /** The text of its next answers. */
  text: string;
  close(): Promise<void>;
}

/** Starts a receiver on a free port; it answers 204 by default. */
export async function startPlainReceiver(): Promise<PlainReceiver> {
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    receiver.requests.push({ headers: incoming.headers, body: Buffer.concat(chunks).toString('utf8') });
    response.writeHead(receiver.status).end(receiver.text);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const receiver: PlainReceiver = {
    url: `http://127.0.0.1:${port}/hook`,
    requests: [],
    status: 204,
    text: '',
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return receiver;
}
