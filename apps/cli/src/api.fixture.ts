import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { CliOutside } from './command.ts';
import { merchantFamily } from './merchant-family.ts';
import { type CliResult, type ProgramSettings, runProgram } from './program.ts';

/** A request as it came to the API. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly key: string;
  readonly idempotencyKey: string;
  readonly body: unknown;
}

/** Answers one request: with data, or by itself. */
export type Answer = (request: SeenRequest, response: ServerResponse) => unknown;

/** An API of node:http, an empty folder, and command lines that are run there. */
export interface TestApi extends AsyncDisposable {
  readonly url: string;
  readonly folder: string;
  readonly seen: SeenRequest[];
  readonly told: string[];
  run(args: readonly string[], more?: Partial<CliOutside>): Promise<CliResult>;
}

export const merchantProgram: ProgramSettings<CliOutside> = {
  name: 'florin',
  description: 'the commands of a merchant',
  version: '0.1.0',
  families: [merchantFamily],
};

export async function openTestApi(answer: Answer): Promise<TestApi> {
  const folder = mkdtempSync(join(tmpdir(), 'florin-cli-'));
  const [seen, told]: [SeenRequest[], string[]] = [[], []];
  const server = createServer(async (incoming, response) => {
    const { method = '', url: path = '', headers } = incoming;
    const body = await text(incoming);
    const request = {
      method,
      path,
      key: (headers.authorization ?? '').replace(/^Bearer /, ''),
      idempotencyKey: String(headers['idempotency-key'] ?? ''),
      body: body === '' ? undefined : (JSON.parse(body) as unknown),
    };
    seen.push(request);
    const data = await answer(request, response);
    if (!response.writableEnded) response.end(JSON.stringify({ code: 0, message: 'success', data }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    folder,
    seen,
    told,
    run: (args, more) =>
      runProgram(merchantProgram, args, {
        environment: { XDG_CONFIG_HOME: folder },
        clock: {
          now: () => new Date('2030-01-31T00:00:00Z'),
          monotonicMs: () => performance.now(),
          sleep: () => new Promise((resolve) => setImmediate(resolve)),
        },
        folder,
        tell: (sentence) => told.push(sentence),
        ...more,
      }),
    async [Symbol.asyncDispose]() {
      rmSync(folder, { recursive: true });
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A refusal as the service answers it. */
export function refuse(response: ServerResponse, code: number, slug: string): void {
  const docUrl = `https://pay.example.com/docs/errors/${code}`;
  const error = { slug, param: '', retryable: false, remedy: 'Do it.', docUrl, requestId: 'req_1' };
  response.setHeader('request-id', 'req_1');
  response.end(JSON.stringify({ code, message: 'Text: detail', data: null, error }));
}
