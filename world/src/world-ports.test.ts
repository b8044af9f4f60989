import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { portOf, WorldHome } from './home.ts';
import { findFreePort, LOOPBACK } from './port.ts';
import { choosePorts } from './world-ports.ts';

test('a world keeps its port, and moves to the next free one when another program has it', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'florin ports '));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const home = new WorldHome(folder);
  const lines: string[] = [];
  const choose = (asked?: number) =>
    choosePorts({ home, asked, unused: [], log: (line) => lines.push(line) });
  const listen = async (port: number) => {
    const server = createServer().listen(port, LOOPBACK);
    t.after(() => server.close());
    await once(server, 'listening');
  };

  const asked = await findFreePort();
  const first = await choose(asked);
  assert.equal(first.port, asked);
  assert.deepEqual([await choose(), lines], [first, []]);

  await listen(asked);
  const second = await choose();
  assert.ok(second.port > asked);
  assert.deepEqual(lines, [
    `  ! Port ${asked} is taken: this world is at port ${second.port}, and stays there until FLORIN_PORT names another.`,
  ]);
  home.clear();
  assert.deepEqual(await choose(), second);

  await listen(portOf(first.ports, 'console'));
  await assert.rejects(choose(), /keeps for console, is taken by another program\. End that, or change/);
});
