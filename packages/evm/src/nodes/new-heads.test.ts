import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, afterEach, before, test } from 'node:test';
import { type Anvil, startTestAnvil } from '../../test/anvil.ts';
import { silentLog, systemClock } from '../../test/context.ts';
import { frameHeader, type ServedSocket, serveSockets } from '../../test/socket-server.ts';
import { type NewHeads, newHeads } from './new-heads.ts';

let anvil: Anvil;
let stop = new AbortController();
let running: Promise<void> = Promise.resolve();
before(async () => {
  anvil = await startTestAnvil();
});
afterEach(async () => {
  stop.abort();
  await running;
  stop = new AbortController();
});
after(() => anvil.close());

/** Waits are cut short, so that a test does not wait for a back-off. */
const instantClock = {
  ...systemClock,
  sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(Math.min(ms, 20), signal),
};

function listenTo(...urls: readonly string[]): NewHeads {
  const heads = newHeads({ chainId: anvil.chainId, urls, clock: instantClock, log: silentLog });
  running = heads.run(stop.signal);
  return heads;
}

test('a new block of a real node ends the wait', async () => {
  const heads = listenTo(anvil.url.replace('http', 'ws'));
  const woken = heads.wake(AbortSignal.timeout(60_000));
  let isAwake = false;
  woken.then(() => {
    isAwake = true;
  });
  while (!isAwake) {
    await anvil.mine();
    await systemClock.sleep(20);
  }
});

test('a wait ends when its signal aborts, and a block that arrived before the wait is not missed', async () => {
  const heads = listenTo();
  await heads.wake(AbortSignal.abort());
  await heads.wake(AbortSignal.timeout(10));
});

const cuts: (() => void)[] = [];

/** A WebSocket server. The test decides what it does with an open connection. */
async function socketServer(onOpen: (socket: ServedSocket, count: number) => void): Promise<Server> {
  const server = createServer();
  let count = 0;
  const { cutAll } = serveSockets(server, (socket) => {
    count += 1;
    onOpen(socket, count);
    return {};
  });
  cuts.push(cutAll);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

function addressOf(server: Server): string {
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a dropped, refused or flooded connection is opened again, and its messages only end a wait', async () => {
  let connections = 0;
  const server = await socketServer((socket, count) => {
    connections = count;
    if (count === 1) socket.cut();
    // The header announces a gigabyte: the connection must end before the first byte of the message.
    else if (count === 2) void socket.write(frameHeader(2 ** 30));
    else socket.say('{not json');
  });
  try {
    const heads = listenTo(addressOf(server), 'ws://127.0.0.1:9');
    await heads.wake(AbortSignal.timeout(60_000));
    assert.equal(connections, 3);
  } finally {
    stop.abort();
    await running;
    for (const cut of cuts.splice(0)) cut();
    server.close();
  }
});
