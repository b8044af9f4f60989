import { type Hex, payLink, type Step } from '@florin/agent';
import { privateKeyToAccount } from 'viem/accounts';

/** The task of an agent's process, as JSON in its first argument. */
export interface AgentTask {
  readonly url: string;
  readonly privateKey: Hex;
  readonly token: { readonly chainId: number; readonly address: string; readonly decimals: number };
  readonly rpcUrl: string;
  readonly method: 'signature' | 'transaction';
  readonly idempotencyKey: string;
  /** The step at which the process kills itself, like a power cut. */
  readonly killAt: Step;
}

const task = JSON.parse(process.argv[2] ?? '') as AgentTask;
await payLink(task.url, {
  account: privateKeyToAccount(task.privateKey),
  maxAmount: 20_000_000n,
  idempotencyKey: task.idempotencyKey,
  policy: { tokens: [task.token] },
  rpcUrls: { [task.token.chainId]: task.rpcUrl },
  method: task.method,
  pollMs: 100,
  onStep: (step) => {
    if (step === task.killAt) process.kill(process.pid, 'SIGKILL');
  },
});
