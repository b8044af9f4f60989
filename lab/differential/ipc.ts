import { createConnection, type Socket } from 'node:net';

/** An error in a node's answer. */
export class NodeError extends Error {
  override readonly name = 'NodeError';
  readonly data: unknown;
  constructor(message: string, data: unknown) {
    super(message);
    this.data = data;
  }
}

interface Answer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string; readonly data?: unknown };
}

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** JSON-RPC over a local socket, at a tenth of the cost of HTTP. Calls may run in parallel. */
export class Ipc {
  readonly #socket: Socket;
  readonly #waiting = new Map<number, Waiting>();
  #calls = 0;
  #text = '';

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding('utf8');
    socket.on('data', (part: string) => this.#take(part));
    socket.on('close', () => this.#fail(new Error('the node closed its socket')));
    socket.on('error', (error) => this.#fail(error));
  }

  static async open(path: string): Promise<Ipc> {
    const socket = createConnection(path);
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    return new Ipc(socket);
  }

  call(method: string, params: readonly unknown[] = []): Promise<unknown> {
    this.#calls += 1;
    const id = this.#calls;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #fail(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }

  #take(part: string): void {
    this.#text += part;
    for (let end = endOfObject(this.#text); end > 0; end = endOfObject(this.#text)) {
      this.#answer(JSON.parse(this.#text.slice(0, end)) as Answer);
      this.#text = this.#text.slice(end).trimStart();
    }
  }

  #answer({ id, result, error }: Answer): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) waiting?.resolve(result);
    else waiting?.reject(new NodeError(error.message, error.data));
  }
}

/** The end of the first complete JSON object in a text, or 0. Nodes put nothing between two answers. */
function endOfObject(text: string): number {
  let depth = 0;
  let isQuoted = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (isQuoted) {
      if (character === '\\') index += 1;
      else if (character === '"') isQuoted = false;
      continue;
    }
    if (character === '"') isQuoted = true;
    else if (character === '{') depth += 1;
    else if (character === '}') {
      depth -= 1;
      if (depth === 0) return index + 1;
    }
  }
  return 0;
}
