import { readFileSync } from 'node:fs';
import { argument, type CliOutside, mandatory, optional } from './command.ts';
import { CommandError } from './command-error.ts';
import { apiCommand } from './resource.ts';
import { readSecret } from './secret-prompt.ts';

/** `florin refunds sign`: from the wallet that has the money. */
export const signRefundCommand = apiCommand({
  does: 'sends a refund that requires a signature, from the wallet that the payment was settled to',
  argument: argument('<id>', 'the id of a refund'),
  examples: [
    'refunds sign rfd_… --keystore wallet.json --rpc-url https://rpc.example.com',
    'refunds sign rfd_… --keystore wallet.json --rpc-url https://rpc.example.com < password.txt',
  ],
  options: [
    mandatory('--keystore <file>', 'the wallet, as a keystore file (version 3); its password is asked for'),
    mandatory(
      '--rpc-url <url>',
      'a node of the chain that the payer paid on: requiredBalance.chainId of the refund',
    ),
    optional('--from <address>', 'the wallet, where it is another one than the payment was settled to'),
  ],
  async run(florin, options, outside) {
    const [file, url] = [options.required('keystore'), options.required('rpc-url')];
    const refund = await florin.refunds.retrieve(options.required('id'));
    // Before the password: a refund that needs no signature has its reason.
    if (refund.status !== 'requires_signature')
      throw new CommandError(`${refund.refundId} is ${refund.status}: there is nothing to sign`);
    const { JsonRpcProvider, Wallet } = await loadEthers();
    const json = readKeystore(file);
    const password = await passwordOf(outside);
    const wallet = await Wallet.fromEncryptedJson(json, password).catch((error: unknown) => {
      throw new CommandError(`${file} cannot be opened: ${error instanceof Error ? error.message : error}`);
    });
    const provider = new JsonRpcProvider(url, Number(refund.txRequest?.chainId), { staticNetwork: true });
    try {
      outside.tell(`sending from ${wallet.address}; this waits for a block`);
      const sent = await refund.send(wallet.connect(provider), { from: options.optional('from') });
      const text = `sent ${sent.refundId} in ${sent.txHash}; refund.completed comes when its block is final`;
      return { text, json: { ...sent, from: wallet.address } };
    } finally {
      provider.destroy();
    }
  },
});

/** Only this command needs it, and it is larger than everything else together: so it is installed where it is used. */
async function loadEthers(): Promise<typeof import('ethers')> {
  try {
    return await import('ethers');
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
    if (!isMissing) throw error;
    throw new CommandError('signing needs the package ethers beside this one: npm install ethers');
  }
}

function readKeystore(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}

/** The password of the environment, a pipe or a prompt. A flag would keep it in the history of the shell. */
async function passwordOf(outside: CliOutside): Promise<string> {
  const given = outside.environment['FLORIN_KEYSTORE_PASSWORD'];
  if (given !== undefined && given !== '') return given;
  return readSecret(outside, {
    question: 'Password of the keystore',
    missing: 'there is no password: pipe it in, or set FLORIN_KEYSTORE_PASSWORD',
  });
}
