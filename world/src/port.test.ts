import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { findFreePort, findFreePorts, findNextFreePort, isPortFree, LOOPBACK } from './port.ts';

const run = promisify(execFile);

test('concurrent searches for a port never return the same one, in one process or in two', async () => {
  const module = new URL('./port.ts', import.meta.url).href;
  const program = `import { findFreePorts } from '${module}'; console.log((await findFreePorts(100)).join());`;
  const elsewhere = () =>
    run(process.execPath, ['--conditions=source', '--input-type=module', '-e', program]);
  const own = await Promise.all(Array.from({ length: 200 }, findFreePort));
  const { stdout } = await elsewhere();
  const all = [...own, ...stdout.trim().split(',').map(Number)];
  assert.equal(all.length, 300);
  assert.equal(new Set(all).size, 300);
});

test('a port is free to listen on, and outside the ranges for outgoing connections', async () => {
  const ports = await findFreePorts(20);
  assert.deepEqual(await Promise.all(ports.map(isPortFree)), Array(20).fill(true));
  assert.ok(ports.every((port) => port > 10_080 && port < 16_000));
});

test('the next free port is after the taken ones, and not among the others', async (t) => {
  const wanted = await findFreePort();
  assert.equal(await findNextFreePort(wanted), wanted);
  const server = createServer().listen(wanted, LOOPBACK);
  t.after(() => server.close());
  await once(server, 'listening');
  const next = await findNextFreePort(wanted);
  assert.ok(next > wanted);
  assert.ok((await findNextFreePort(wanted, [next])) > next);
});
