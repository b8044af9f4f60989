import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { changed, configFiles, masterKey, orderKey, settlerKey } from '../../test/harness/config-files.ts';
import { settingRows } from './setting-documents.ts';

const files = await configFiles();
after(() => files.close());

test('the configuration that staff sees names keys by address and nodes by host, and holds no secret', async () => {
  const { configuration } = await files.read(
    changed((file) => {
      file.databaseUrl = 'postgres://florin:database-password@127.0.0.1/florin';
      file.chains[0].wsUrls = ['wss://base.example.com/secret-socket'];
    }),
  );
  const text = JSON.stringify(configuration);
  const secrets = [orderKey, settlerKey, masterKey].map((key) => key.replace('0x', ''));
  for (const secret of [...secrets, 'database-password', 'secret-path', 'secret-socket'])
    assert.equal(text.includes(secret), false, secret);
  assert.deepEqual(configuration['signer'], {
    order: '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A',
    settler: '0x1563915e194D8CfBA1943570603F7606A3115508',
    otherSettlers: [],
  });
  assert.match(text, /"rpcUrls":\["base\.example\.com"\]/);
  assert.equal(configuration['masterKeys'], 1);
});

/** Secrets and where they are kept, databases and buckets. */
const unshown =
  /^(databaseUrl|databaseReplicaUrl|masterKey|imagesSecretKey|smtpPassword|smtp\.user|walletConnect\.script)$|^images\.(folder|s3\.)|^signer\.(orderKey|settlerKey)/;

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
  const address = '0x0000000000000000000000000000000000000001';
  const { configuration: shown } = await files.read(
    changed((file) => {
      Object.assign(file, {
        ...{ fundingUrl: 'https://bridge.example.com/?key=secret', smtpPassword: 'secret' },
        walletConnect: { projectId: '0'.repeat(32), script: '/opt/florin-walletconnect.js' },
        monitoring: { backups: '/backups' },
        tracing: { url: 'http://127.0.0.1:4318/v1/traces' },
        smtp: { host: 'smtp.example.com', from: 'pay@example.com', user: 'pay' },
        settlement: { outflow: { perOrderUsd: 1, hourlyUsd: 2, dailyUsd: 3 } },
        images: { folder: '/images' },
      });
      Object.assign(file.signer, {
        otherSettlers: [{ kind: 'key', number: 2 }],
        settler2Key: `0x${'33'.repeat(32)}`,
      });
      file.chains[0].previousGateways = [{ gateway: address, vault: address }];
    }),
    { FLORIN_PORT: '8080', FLORIN_ROLES: 'web' },
  );
  const names = settingRows().flatMap((row) => row.names);
  assert.deepEqual(
    names.filter((name) => (shownAt(shown, name) === undefined) !== unshown.test(name)),
    [],
  );
  const at = (name: string) => shownAt(shown, name);
  assert.deepEqual(
    [at('settlement.outflow.hourlyUsd'), at('tracing.url'), at('fundingUrl')],
    [2, '127.0.0.1:4318', 'bridge.example.com'],
  );
  assert.deepEqual([at('http.port'), at('roles'), at('smtp.port')], [8080, ['web'], 587]);
  assert.deepEqual(
    [at('chains[].finality.quorum'), at('chains[].tokens[].permits')],
    [1, 'what the chain says'],
  );
  assert.deepEqual([at('chains[].cctp'), at('settlement.maxBaseFeeGwei')], ['off', 'none']);
});
