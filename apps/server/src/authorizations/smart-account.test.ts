import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { type HttpRpc, openHttpRpc } from '@florin/evm';
import { type Anvil, startTestAnvil } from '@florin/evm/testing';
import type { Hex } from '@florin/protocol/order.ts';
import { secp256k1 } from '@florin/signing';
import {
  type Abi,
  concat,
  createPublicClient,
  createWalletClient,
  encodeAbiParameters,
  encodeFunctionData,
  getContractAddress,
  http,
  parseAbiParameters,
  toHex,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { anvil as anvilChain } from 'viem/chains';
import { systemClock } from '#outside/clock.ts';
import { silentLog } from '#telemetry/log.ts';
import { cryptographyOf } from './cryptography.ts';
import { payerChainOf } from './payer-chain.ts';
import { isAuthorizedBy, isPaymentSignedBy, type SignatureContext } from './signature.ts';

/** Smart accounts of every kind on a real chain: their answers about signatures, and hostile accounts. */

let anvil: Anvil;
let rpc: HttpRpc;
let deps: SignatureContext;
before(async () => {
  anvil = await startTestAnvil({ automine: true });
  rpc = openHttpRpc({ chainId: anvil.chainId, urls: [anvil.url], clock: systemClock, log: silentLog });
  deps = { cryptography: cryptographyOf(secp256k1), payerChain: payerChainOf(() => rpc) };
});
after(async () => {
  await rpc.close();
  await anvil.close();
});

const owner = privateKeyToAccount(generatePrivateKey());
const digest: Hex = `0x${'5d'.repeat(32)}`;

interface Artifact {
  readonly abi: Abi;
  readonly bytecode: Hex;
}

function artifactOf(name: string): Artifact {
  return JSON.parse(
    readFileSync(new URL(`../../../../contracts/artifacts/${name}.json`, import.meta.url), 'utf8'),
  );
}

function clients() {
  const settings = { chain: anvilChain, transport: http(anvil.url) };
  const [funded] = anvil.accounts;
  assert.ok(funded);
  return {
    reader: createPublicClient({ ...settings, pollingInterval: 20 }),
    writer: createWalletClient({ ...settings, account: privateKeyToAccount(funded.privateKey) }),
  };
}

async function deploy(name: string, args: readonly unknown[] = []): Promise<Hex> {
  const { reader, writer } = clients();
  const hash = await writer.deployContract({ ...artifactOf(name), args });
  const { contractAddress } = await reader.waitForTransactionReceipt({ hash });
  assert.ok(contractAddress);
  return contractAddress;
}

function authorizes(payer: Hex, signature: Hex): Promise<boolean> {
  return isAuthorizedBy(deps, { chainId: anvil.chainId, payer, digest, signature });
}

const salt: Hex = `0x${'00'.repeat(31)}07`;
const wrapperParameters = parseAbiParameters('address, bytes, bytes');

function wrap(factory: Hex, factoryCall: Hex, signature: Hex): Hex {
  const body = encodeAbiParameters(wrapperParameters, [factory, factoryCall, signature]);
  return concat([body, `0x${'6492'.repeat(16)}`]);
}

/** A factory, and the account that it deploys for a key. */
async function counterfactual(key: Hex = owner.address) {
  const { abi } = artifactOf('LocalWalletFactory');
  const factory = await deploy('LocalWalletFactory');
  const args = [key, salt] as const;
  const address = await clients().reader.readContract({
    abi,
    address: factory,
    functionName: 'addressOf',
    args,
  });
  const call = encodeFunctionData({ abi, functionName: 'deploy', args });
  return { factory, address: address as Hex, call };
}

test('only the key of its owner authorizes for a smart account', async () => {
  const wallet = await deploy('LocalSmartWallet', [owner.address]);
  const other = privateKeyToAccount(generatePrivateKey());
  assert.equal(await authorizes(wallet, await owner.sign({ hash: digest })), true);
  assert.equal(await authorizes(wallet, await other.sign({ hash: digest })), false);
  assert.equal(await authorizes(wallet, '0x'), false);
});

/** Modes of LocalHostileWallet, and whether each one's answer is an authorization. */
const modes: readonly (readonly [name: string, isAccepted: boolean])[] = [
  ['accepts every signature', true],
  ['reverts with the magic value', false],
  ['burns all gas', false],
  ['answers with nearly a megabyte', false],
  ['answers with two words', false],
  ['answers with four bytes', false],
  ['answers with a dirty word', false],
  ['answers true', false],
  ['answers nothing', false],
];
for (const [mode, [name, isAccepted]] of modes.entries()) {
  test(`an account that ${name} ${isAccepted ? 'authorizes' : 'does not authorize'}`, async () => {
    const wallet = await deploy('LocalHostileWallet', [mode]);
    assert.equal(await authorizes(wallet, `0x${'77'.repeat(65)}`), isAccepted);
  });
}

test('an account that traps does not authorize', async () => {
  assert.equal(await authorizes(await deploy('LocalHostileWallet', [10]), '0x77'), false);
});

test('an account whose answer depends on the block is judged by the newest one', async () => {
  const wallet = await deploy('LocalHostileWallet', [9]);
  const said: boolean[] = [];
  for (let round = 0; round < 2; round++) {
    const isEven = (await clients().reader.getBlockNumber()) % 2n === 0n;
    said.push((await authorizes(wallet, '0x77')) === isEven);
    await anvil.mine();
  }
  assert.deepEqual(said, [true, true]);
});

test('only its account authorizes for a key with an EIP-7702 delegation, until the key withdraws the delegation', async () => {
  const { reader, writer } = clients();
  const payer = privateKeyToAccount(generatePrivateKey());
  const bySelf = await payer.sign({ hash: digest });
  const byOwner = await owner.sign({ hash: digest });
  const verdicts = async () => [
    await authorizes(payer.address, bySelf),
    await authorizes(payer.address, byOwner),
  ];
  const delegate = async (address: Hex, nonce: number) => {
    const authorization = await payer.signAuthorization({ address, chainId: anvil.chainId, nonce });
    const hash = await writer.sendTransaction({ to: owner.address, authorizationList: [authorization] });
    await reader.waitForTransactionReceipt({ hash });
  };
  assert.deepEqual(await verdicts(), [true, false]);
  await delegate(await deploy('LocalSmartWallet', [owner.address]), 0);
  assert.match((await reader.getCode({ address: payer.address })) ?? '', /^0xef0100/);
  assert.deepEqual(await verdicts(), [false, true]);
  // Delegated to an address without code, the account still has code of its own. No code answers, and its key does not
  // count.
  await delegate(`0x${'bd'.repeat(20)}`, 1);
  assert.deepEqual(await verdicts(), [false, false]);
  await delegate(`0x${'00'.repeat(20)}`, 2);
  assert.deepEqual(await verdicts(), [true, false]);
});

test('an account that is not deployed authorizes through its factory, and the call leaves no state', async () => {
  const { factory, address, call } = await counterfactual();
  const signature = await owner.sign({ hash: digest });
  const { reader } = clients();
  assert.equal(await authorizes(address, wrap(factory, call, signature)), true);
  const abi = artifactOf('LocalWalletFactory').abi;
  const deployed = await reader.readContract({ abi, address: factory, functionName: 'deployed' });
  assert.deepEqual([await reader.getCode({ address }), deployed], [undefined, 0n]);
});

test('only the wrapped signature authorizes for an account that is not deployed', async () => {
  const { factory, address, call } = await counterfactual();
  const signature = await owner.sign({ hash: digest });
  const other = privateKeyToAccount(generatePrivateKey());
  const wrapped = wrap(factory, call, signature);
  const claim = { chainId: anvil.chainId, payer: address, digest, signature: wrapped };
  const refused = {
    unwrapped: await authorizes(address, signature),
    'of another key': await authorizes(address, wrap(factory, call, await other.sign({ hash: digest }))),
    'of another address': await authorizes(other.address, wrapped),
    'of the owner': await authorizes(owner.address, wrapped),
    'with a factory that does nothing': await authorizes(address, wrap(other.address, call, signature)),
    'with a call that reverts': await authorizes(address, wrap(factory, '0xdeadbeef', signature)),
    'for a payment': await isPaymentSignedBy(deps, claim),
  };
  assert.deepEqual(
    Object.entries(refused).filter(([, isAccepted]) => isAccepted),
    [],
  );
});

test('a factory’s own answer, burn or revert is not an authorization of its account', async () => {
  const payer = privateKeyToAccount(generatePrivateKey()).address;
  for (const mode of [0, 1, 2, 3, 10]) {
    const hostile = await deploy('LocalHostileWallet', [mode]);
    assert.equal(await authorizes(payer, wrap(hostile, '0x1626ba7e', '0x77')), false, `mode ${mode}`);
  }
});

/** Deploys the code that it is sent to an address that follows from the code. anvil has it, as most chains do. */
const anyFactory: Hex = '0x4e59b44847b379578588920cA78FbF26c0B4956C';

for (const [mode, [name, isAccepted]] of modes.entries()) {
  test(`an account that is not deployed and ${name} ${isAccepted ? 'authorizes' : 'does not authorize'}`, async () => {
    const { bytecode } = artifactOf('LocalHostileWallet');
    const creation = concat([bytecode, toHex(mode, { size: 32 })]);
    const payer = getContractAddress({ opcode: 'CREATE2', from: anyFactory, salt, bytecode: creation });
    const wrapped = wrap(anyFactory, concat([salt, creation]), '0x77');
    assert.equal(await authorizes(payer, wrapped), isAccepted);
  });
}

test('a wrapped signature still counts once the account is deployed, even if its factory would now fail', async () => {
  const { factory, address, call } = await counterfactual();
  const { reader, writer } = clients();
  await reader.waitForTransactionReceipt({ hash: await writer.sendTransaction({ to: factory, data: call }) });
  const signature = await owner.sign({ hash: digest });
  assert.equal(await authorizes(address, wrap(factory, call, signature)), true);
  assert.equal(await authorizes(address, signature), true);
});

test('precompiles and the checking contract itself are not accounts', async () => {
  const wrapped = wrap(`0x${'00'.repeat(19)}04`, '0x1626ba7e', '0x77');
  for (const number of [1, 2, 3, 4, 5, 6, 7, 8, 9, 256]) {
    const payer: Hex = `0x${number.toString(16).padStart(40, '0')}`;
    assert.equal(await authorizes(payer, wrapped), false);
    assert.equal(await authorizes(payer, '0x77'), false);
  }
});
