import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { allVerified } from '#chains/verification.ts';
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
  assert.deepEqual(shown['signers'], {
    orderSigner: '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A',
    settlers: [wallet?.address],
  });
  assert.match(text, /"nodes":\["base\.example\.com"\]/);
  assert.equal(shown['masterKeys'], 1);
});
