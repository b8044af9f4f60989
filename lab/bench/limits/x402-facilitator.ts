// The x402 facilitator over HTTP, wired like its own basic example (examples/typescript/facilitator/basic): express,
// a viem client, the exact scheme for EVM chains. The example's hooks print every payment, so they are left out.
import { x402Facilitator } from '@x402/core/facilitator';
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types';
import { toFacilitatorEvmSigner } from '@x402/evm';
import { ExactEvmScheme } from '@x402/evm/exact/facilitator';
import express from 'express';
import { createWalletClient, type Hex, http, publicActions } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { anvil } from 'viem/chains';

const setting = (name: string) => process.env[name] ?? '';

const account = privateKeyToAccount(setting('LIMIT_PRIVATE_KEY') as Hex);
const transport = http(setting('LIMIT_RPC_URL'));
const client = createWalletClient({ account, chain: anvil, transport }).extend(publicActions);

const facilitator = new x402Facilitator().register(
  'eip155:31337',
  new ExactEvmScheme(
    toFacilitatorEvmSigner({
      address: account.address,
      getCode: (request) => client.getCode(request),
      readContract: (request) => client.readContract({ ...request, args: request.args ?? [] }),
      verifyTypedData: (request) =>
        client.verifyTypedData(request as Parameters<typeof client.verifyTypedData>[0]),
      writeContract: (request) =>
        client.writeContract(request as unknown as Parameters<typeof client.writeContract>[0]),
      sendTransaction: (request) => client.sendTransaction(request),
      waitForTransactionReceipt: (request) => client.waitForTransactionReceipt(request),
    }),
  ),
);

const app = express();
app.use(express.json());
app.post('/verify', async (request, response) => {
  const { paymentPayload, paymentRequirements } = request.body as {
    paymentPayload: PaymentPayload;
    paymentRequirements: PaymentRequirements;
  };
  response.json(await facilitator.verify(paymentPayload, paymentRequirements));
});
process.once('disconnect', () => process.exit(0));
app.listen(Number(setting('LIMIT_PORT')), '127.0.0.1', () => process.send?.('ready'));
