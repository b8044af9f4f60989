import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';

const solc = createRequire(import.meta.url)('./fast-solc.cjs') as { compile(input: string): string };
const artifact = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../contracts/artifacts/${name}.json`, import.meta.url), 'utf8'));

interface Output {
  readonly contracts: Readonly<
    Record<string, Readonly<Record<string, { evm: { bytecode: { object: string } } }>>>
  >;
}

test('explorers compile from what they are sent exactly the code that is deployed', () => {
  const { input } = artifact('standard-json') as { input: object };
  const { contracts } = JSON.parse(solc.compile(JSON.stringify(input))) as Output;
  for (const name of ['GatewayFactory', 'PaymentGateway', 'PayoutVault', 'CctpRoute', 'DepositReceiver']) {
    const { bytecode } = artifact(name) as { bytecode: string };
    assert.equal(`0x${contracts[`src/${name}.sol`]?.[name]?.evm.bytecode.object}`, bytecode, name);
  }
});
