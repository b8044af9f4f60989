import { createHash } from 'node:crypto';
import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';

/** The end of a WebSocket that belongs to the test: it may say what no proper server says. */
export interface ServedSocket {
  /** A whole message of text. */
  say(text: string): void;
  /** Bytes as they are, frames or not; resolves when there is room for more, false when the other end is gone. */
  write(bytes: Buffer): Promise<boolean>;
  /** Ends the connection without a word. */
  cut(): void;
}

/** Has an HTTP server take WebSockets. `opened` gives what is done with each text message. */
export function serveSockets(
  server: Server,
  opened: (socket: ServedSocket) => { heard?: (text: string) => void; ended?: () => void },
): { cutAll(): void } {
  const all = new Set<Duplex>();
  server.on('upgrade', (request, duplex) => {
    const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const accept = createHash('sha1').update(key).digest('base64');
    all.add(duplex);
    duplex.on('error', () => {});
    duplex.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    const { heard, ended } = opened(servedSocket(duplex));
    let received = Buffer.alloc(0);
    duplex.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      for (let frame = readFrame(received); frame !== undefined; frame = readFrame(received)) {
        received = received.subarray(frame.end);
        if (frame.isText) heard?.(frame.text);
        else if (frame.isClose) duplex.end(Buffer.from([0x88, 0]));
      }
    });
    duplex.on('close', () => {
      all.delete(duplex);
      ended?.();
    });
  });
  return {
    cutAll() {
      for (const duplex of all) duplex.destroy();
    },
  };
}

function servedSocket(duplex: Duplex): ServedSocket {
  const write = (bytes: Buffer) =>
    new Promise<boolean>((resolve) => {
      if (duplex.destroyed) return resolve(false);
      duplex.write(bytes, (error) => resolve(error === undefined || error === null));
    });
  return {
    write,
    say: (text) => void write(Buffer.concat([frameHeader(Buffer.byteLength(text)), Buffer.from(text)])),
    cut: () => duplex.destroy(),
  };
}

/** What a message of text of this length begins with. */
export function frameHeader(length: number): Buffer {
  if (length < 126) return Buffer.from([0x81, length]);
  const header = Buffer.alloc(10);
  header.writeUInt8(0x81, 0);
  header.writeUInt8(127, 1);
  header.writeBigUInt64BE(BigInt(length), 2);
  if (length >= 65_536) return header;
  return Buffer.from([0x81, 126, length >> 8, length & 255]);
}

/** A client's frame, which is masked and whole (RFC 6455, section 5.2); undefined while some of it is missing. */
function readFrame(bytes: Buffer) {
  if (bytes.length < 2) return undefined;
  const short = bytes.readUInt8(1) & 127;
  const start = short === 126 ? 4 : short === 127 ? 10 : 2;
  if (bytes.length < start + 4) return undefined;
  const length =
    short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short;
  const end = start + 4 + length;
  if (bytes.length < end) return undefined;
  const mask = bytes.subarray(start, start + 4);
  const payload = bytes.subarray(start + 4, end).map((byte, index) => byte ^ (mask[index % 4] ?? 0));
  const kind = bytes.readUInt8(0) & 15;
  return { end, isText: kind === 1, isClose: kind === 8, text: Buffer.from(payload).toString('utf8') };
}
