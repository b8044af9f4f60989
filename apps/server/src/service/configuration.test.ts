import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { allVerified } from '#chains/verification.ts';
import { settingTable } from '#config/setting-table.ts';
import { sampleFiles } from '#config/settings.ts';
import { systemClock } from '#outside/clock.ts';
import { systemRandom } from '#outside/random.ts';
import { serviceOptionsOf } from '#start/options.ts';
import { silentLog } from '#telemetry/log.ts';
import { changed, configFiles, masterKey, orderKey, settlerKey } from '../../test/harness/config-files.ts';
import { configurationOf, sendingWallets } from './configuration.ts';

const files = await configFiles();
after(() => files.close());

test('the configuration that staff sees names keys by address and nodes by host, and holds no secret', async () => {
  const config = await files.read(
    changed((file) => {
      file.databaseUrl = 'postgres://florin:database-password@127.0.0.1/florin';
      file.chains[0].wsUrls = ['wss://base.example.com/secret-socket'];
    }),
  );
  const settings = serviceOptionsOf(config, { clock: systemClock, random: systemRandom, log: silentLog });
  const options = { ...settings, verification: allVerified };
  const shown = configurationOf(options);
  const text = JSON.stringify(shown);
  const secrets = [orderKey, settlerKey, masterKey].map((key) => key.replace('0x', ''));
  for (const secret of [...secrets, 'database-password', 'secret-path', 'secret-socket'])
    assert.equal(text.includes(secret), false, secret);
  const [wallet] = sendingWallets(options);
  assert.deepEqual(shown['signer'], {
    order: '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A',
    settler: wallet?.address,
    otherSettlers: [],
  });
  assert.match(text, /"rpcUrls":\["base\.example\.com"\]/);
  assert.equal(shown['masterKeys'], 1);
});

/** Secrets and where they are kept, databases and buckets. */
const unshown =
  /^(databaseUrl|databaseReplicaUrl|masterKey|imagesSecretKey|smtpPassword|smtp\.user|walletConnect\.script)$|^images\.(folder|s3\.)|^signer\.(orderKey|settlerKey|otherSettlers\[\]\.)/;

/** What the configuration shows by the name of a setting; of lists their first entry. */
function shownAt(shown: unknown, name: string): unknown {
  return name
    .replaceAll('[]', '.0')
    .split('.')
    .reduce<unknown>(
      (value, part) =>
        typeof value === 'object' && value !== null && part in value
          ? (value as Record<string, unknown>)[part]
          : undefined,
      shown,
    );
}

test('the configuration that staff sees has each setting of the table by its name, but for secrets', async () => {
  const script = await files.written('export { EthereumProvider };');
  const [sample] = sampleFiles;
  const walletConnect = { projectId: '0'.repeat(32), script };
  const config = await files.read({ ...sample, walletConnect });
  const settings = serviceOptionsOf(config, { clock: systemClock, random: systemRandom, log: silentLog });
  const shown = configurationOf({ ...settings, verification: allVerified });
  const names = settingTable.flatMap(({ names, covers = [] }) => [...names, ...covers]);
  assert.deepEqual(
    names.filter((name) => !unshown.test(name) && shownAt(shown, name) === undefined),
    [],
  );
  assert.deepEqual(
    names.filter((name) => unshown.test(name) && shownAt(shown, name) !== undefined),
    [],
  );
  assert.equal(shownAt(shown, 'settlement.outflow.hourlyUsd'), '1.00');
  assert.equal(shownAt(shown, 'tracing.url'), '127.0.0.1:4318');
});
