import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Refusal } from '@florin/protocol/error.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { getAddress } from 'viem';
import { fixtureChains } from '../../test/harness/agent-fixture.ts';
import { SettlementWorld } from '../../test/harness/settlement-fixture.ts';

let world: SettlementWorld;
before(async () => {
  world = await SettlementWorld.open();
});
after(() => world.close());

async function refusalOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => 'accepted',
    (reason: unknown) => reason,
  );
  return error instanceof Refusal ? `${error.slug}: ${error.details.detail}` : String(error);
}

test('no contract of the installation is a payer: what goes back to it would be nobody’s', async () => {
  const sessionId = await world.openSession('ethereum::usdc');
  for (const { name, gateway, vault, tokens } of fixtureChains.all) {
    const own: readonly (readonly [Hex, string])[] = [
      [getAddress(gateway), 'the gateway of ethereum'],
      [getAddress(vault), 'the vault of ethereum'],
      ...tokens.map(({ address, tokenId }) => [getAddress(address), `the token ${tokenId}`] as const),
    ];
    for (const [payer, what] of own)
      assert.equal(
        await refusalOf(world.signOrder(sessionId, 'ethereum::usdc', payer)),
        `payer_not_served: ${payer} is ${what}, a contract of this installation`,
        name,
      );
  }
  assert.equal((await world.session(sessionId)).signedOnce, false);
  await world.signOrder(sessionId, 'ethereum::usdc');
});
