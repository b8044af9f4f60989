import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type Clock, systemClock } from '@florin/server/operator';
import { makeCertificate, startMailbox, startReceiver } from '@florin/server/testing';
import {
  examineBackups,
  examineCertificate,
  examineDisk,
  examineMail,
  examinePorts,
  examineProxies,
  examineReceivers,
} from './doctor-outside.ts';

const folder = mkdtempSync(join(tmpdir(), 'florin-doctor-test-'));
after(() => rmSync(folder, { recursive: true }));

const hourMs = 3_600_000;

/** The time of day `hours` from now. */
function later(hours: number): Clock {
  return { ...systemClock, now: () => new Date(systemClock.now().getTime() + hours * hourMs) };
}

test('the ports of the configuration are shown, and whether something answers there', async () => {
  const certificate = makeCertificate({ now: systemClock.now(), validDays: 40 });
  const receiver = await startReceiver({ certificate });
  const host = '127.0.0.1';
  const http = { host, port: receiver.port, trustedProxies: [] };
  const shown = async (port: number) =>
    (await examinePorts({ http, monitoring: { host, port, backups: undefined } })).detail;
  try {
    assert.equal(
      await shown(1),
      `http ${host}:${receiver.port} (answers), monitoring ${host}:1 (nothing listens now)`,
    );
  } finally {
    await receiver.close();
  }
  const { detail, isGood } = await examinePorts({ http, monitoring: undefined });
  assert.deepEqual([detail, isGood], [`http ${host}:${receiver.port} (nothing listens now)`, true]);
});

test('a certificate is reported that ends soon, has ended, or that browsers refuse', async () => {
  const certificate = makeCertificate({ now: systemClock.now(), validDays: 40 });
  const receiver = await startReceiver({ certificate });
  const { ca } = certificate;
  const origin = `https://localhost:${receiver.port}`;
  const look = async (hours: number, trusted: { ca?: string } = { ca }) => {
    const [finding, ...more] = await examineCertificate(origin, { clock: later(hours), ...trusted });
    assert.deepEqual([finding?.what, more], [`certificate of localhost:${receiver.port}`, []]);
    return [finding?.isGood, finding?.detail.replace(/^ends \S+, /, '')];
  };
  try {
    assert.deepEqual(await look(1), [true, 'in 39 days']);
    assert.deepEqual(await look(30 * 24), [false, 'in 9 days: renew it']);
    assert.deepEqual(await look(41 * 24), [false, 'in -2 days: renew it']);
    const [isTrusted, detail] = await look(1, {});
    assert.equal(isTrusted, false);
    assert.match(String(detail), /^in 39 days: payers' browsers refuse it: \S+/);
  } finally {
    await receiver.close();
  }
  const [gone] = await examineCertificate(origin, { clock: systemClock, ca });
  assert.equal(gone?.isGood, false);
  assert.match(gone?.detail ?? '', /^cannot be read from here: /);
  assert.deepEqual(await examineCertificate('http://127.0.0.1:4000', { clock: systemClock }), []);
});

test('webhooks that reach no receiver are reported, and one that is down is not', async () => {
  const receiver = await startReceiver({
    certificate: makeCertificate({ now: systemClock.now(), validDays: 40 }),
  });
  const urls = [`https://localhost:${receiver.port}/a`, `https://localhost:${receiver.port}/b`];
  const down = 'https://localhost:1/hook';
  try {
    assert.deepEqual(await examineReceivers([...urls, down]), [
      { what: 'receivers of webhooks', isGood: true, detail: '1 of the 2 newest can be reached from here' },
    ]);
  } finally {
    await receiver.close();
  }
  const [finding, ...more] = await examineReceivers([down]);
  assert.deepEqual([finding?.isGood, more], [false, []]);
  assert.match(
    finding?.detail ?? '',
    /^none of 1 can be reached from here \(localhost:1: .*\): let connections out$/,
  );
  assert.deepEqual(await examineReceivers([]), []);
  assert.deepEqual(await examineReceivers(['http://127.0.0.1:1/hook']), []);
});

test('an installation behind TLS that trusts no proxy is reported', () => {
  const look = (origin: string, trustedProxies: readonly string[]) =>
    examineProxies({ origin, http: { host: '127.0.0.1', port: 4000, trustedProxies } }).map(
      ({ isGood }) => isGood,
    );
  assert.deepEqual(look('https://pay.example.com', []), [false]);
  assert.deepEqual(look('https://pay.example.com', ['127.0.0.1']), [true]);
  assert.deepEqual(look('http://127.0.0.1:4000', []), []);
});

test('a disk reports its free space, even before its folder exists, and a path that is not a folder is reported', async () => {
  const found = await examineDisk('images', folder);
  assert.match(found.detail, new RegExp(`^${folder} has \\d+ MiB left, \\d+ %`));
  // The folder is created with the first image. Until then the check uses the nearest existing folder's disk.
  const missing = join(folder, 'not', 'yet');
  assert.match(
    (await examineDisk('images', missing)).detail,
    new RegExp(`^${missing} has \\d+ MiB left, \\d+ %`),
  );
  const file = join(folder, 'file');
  writeFileSync(file, '');
  const { isGood, detail } = await examineDisk('images', join(file, 'images'));
  assert.equal(isGood, false);
  assert.match(detail, /cannot be read: ENOTDIR/);
});

test('the newest complete backup counts', async () => {
  const backups = join(folder, 'backups');
  const look = async (maxHours: number) => {
    const { isGood, detail } = await examineBackups(backups, { clock: later(0.5), maxHours });
    return [isGood, detail.replace(backups, 'FOLDER')];
  };
  assert.match(String((await look(24))[1]), /cannot be read: ENOENT/);
  mkdirSync(backups);
  assert.deepEqual(await look(24), [false, 'FOLDER has no backup: run florin backup']);
  const add = (name: string, hoursAgo: number, text = 'rows') => {
    writeFileSync(join(backups, name), text);
    const seconds = (systemClock.now().getTime() - hoursAgo * hourMs) / 1_000;
    utimesSync(join(backups, name), seconds, seconds);
  };
  add('florin-1.gz', 50);
  add('florin-2.gz', 30);
  add('florin-3.gz.part', 1);
  add('florin-4.gz', 1, '');
  assert.deepEqual(await look(31), [true, 'the newest one in FOLDER is 30 hours old']);
  assert.deepEqual(await look(24), [
    false,
    'the newest one in FOLDER is 30 hours old, over 24: run florin backup',
  ]);
});

test('a mail server that answers is good, and one that does not, or offers no TLS, is reported', async () => {
  const mailbox = await startMailbox({ port: 0, now: systemClock.now });
  const { port } = mailbox;
  const settings = { host: '127.0.0.1', port, from: 'pay@example.com', fromName: 'Florin' };
  const what = `mail server 127.0.0.1:${port}`;
  try {
    assert.deepEqual(await examineMail({ ...settings, security: 'none' }), {
      ...{ what, isGood: true },
      detail: 'answers',
    });
    assert.match(
      (await examineMail({ ...settings, security: 'starttls' })).detail,
      /^cannot be used: .*STARTTLS/i,
    );
  } finally {
    await mailbox.close();
  }
  const gone = await examineMail({ ...settings, security: 'none' });
  assert.deepEqual([gone.isGood, gone.what], [false, what]);
  assert.match(gone.detail, /ECONNREFUSED/);
});
