import { readFileSync } from 'node:fs';
import { payLink } from '@florin/agent';
import { Interface, JsonRpcProvider, Wallet } from 'ethers';
import { openBudget } from './budget.js';

const { PAYER_KEY, AGENT_LIMITS = 'limits.json', AGENT_DATABASE = 'agent.sqlite' } = process.env;
const [link, purchase] = process.argv.slice(2);
if (purchase === undefined)
  throw new Error('usage: npm run buy -- <address of the link> <name of the purchase>');
const limits = JSON.parse(readFileSync(AGENT_LIMITS, 'utf8'));
const budget = openBudget(AGENT_DATABASE);
const wallet = new Wallet(PAYER_KEY);
const erc20 = new Interface(['event Transfer(address indexed from, address indexed to, uint256 value)']);

/** Asks only the hosts that the limits name, whatever a page or a document says. */
async function ask(address) {
  const { host } = new URL(address);
  if (!limits.hosts.includes(host)) throw new Error(`the limits do not name the host ${host}`);
  return fetch(address, { redirect: 'error' });
}

/** The price in the first of the agent's tokens that the link takes, as x402 asks for it. It commits to nothing. */
async function readOffer() {
  const [linkId] = new URL(link).pathname.split('/').slice(-1);
  const { x402 } = await (await ask(new URL('/.well-known/ai-pay.json', link))).json();
  const answer = await ask(x402.link.replace('{linkId}', linkId));
  if (answer.status !== 402) throw new Error(`the link takes no payment: HTTP ${answer.status}`);
  const { accepts } = JSON.parse(Buffer.from(answer.headers.get('payment-required'), 'base64'));
  for (const token of limits.tokens)
    for (const { network, asset, amount } of accepts)
      if (network === `eip155:${token.chainId}` && asset.toLowerCase() === token.address.toLowerCase())
        return { token, amount: BigInt(amount) };
  throw new Error('the link takes none of the tokens that the limits name');
}

/** Micro-USD of an amount of a dollar token, rounded up. */
function microUsdOf(amount, { decimals }) {
  const unit = 10n ** BigInt(decimals - 6);
  return (amount + unit - 1n) / unit;
}

/** What left the wallet in a transaction, as the chain itself has it. */
async function readSpent(txHash, { chainId, address }) {
  const provider = new JsonRpcProvider(limits.rpcUrls[chainId], chainId, { staticNetwork: true });
  const receipt = await provider.getTransactionReceipt(txHash);
  return (receipt?.logs ?? [])
    .filter((log) => log.address.toLowerCase() === address.toLowerCase())
    .map((log) => erc20.parseLog(log))
    .filter((event) => event?.args.from === wallet.address)
    .reduce((sum, { args }) => sum + args.value, 0n);
}

const { token, amount } = await readOffer();
const price = microUsdOf(amount, token);
if (price > BigInt(limits.maxMicroUsd))
  throw new Error(`it costs ${price} Micro-USD; the most allowed is ${limits.maxMicroUsd}`);
const maxAmount = budget.reserve(purchase, price, BigInt(limits.dailyMicroUsd));
const payment = await payLink(link, {
  account: wallet,
  maxAmount,
  idempotencyKey: purchase,
  policy: { hosts: limits.hosts, tokens: [token] },
  rpcUrls: limits.rpcUrls,
  store: budget.store,
});
const spent = microUsdOf(await readSpent(payment.txHash, token), token);
if (spent !== maxAmount)
  throw new Error(`${spent} Micro-USD left the wallet in ${payment.txHash}, not ${maxAmount}`);
console.log(JSON.stringify({ purchase, ...payment, microUsd: String(spent) }));
