import { permitKinds } from '@florin/protocol/token.ts';
import { isVisibleLine, visibleLineRule } from '@florin/protocol/visible-text.ts';
import Type from 'typebox';
import { isAddress } from 'viem';
import { choice, group, integer, list, section, text } from './setting.ts';

/** An address with its checksum, or all in lower case. */
export function address(words: Parameters<typeof text>[0] = {}) {
  return text({ accepts: isAddress, wrong: 'must be an EVM address with its checksum', ...words });
}

const digits = text({ pattern: /^(0|[1-9]\d{0,14})$/, wrong: 'must be a number written in digits' });

/** What people see of a token. It is compared with the chain's own, so nothing is dropped. */
const shownText = text({ accepts: isVisibleLine, wrong: visibleLineRule });

const urlOf = (protocol: RegExp, wrong: string) =>
  text({
    shown: 'host',
    accepts: (url) => URL.canParse(url) && protocol.test(new URL(url).protocol),
    wrong: `must be ${wrong} URL`,
  });

const previous = group({ gateway: address(), vault: address(), cctpRoute: Type.Optional(address()) });

const finality = section(
  {
    tag: choice(['finalized', 'safe', 'latest'], { default: 'finalized' }),
    depth: integer(0, 100_000, { default: 0 }),
    quorum: Type.Optional(integer(1, 10)),
    expectedSeconds: Type.Optional(integer(1, 86_400, { absent: 'as measured' })),
  },
  {
    absent: '`finalized`, 0',
    meaning:
      'a block is final when it is at or below the tag `finalized`, `safe` or `latest`, is at least `depth` blocks under the head, and `quorum` nodes of different providers say so (2 where there are two, else 1; hosts of one domain are one provider). With several chains each needs 2, or the service does not start, because vaults pay out for payments on other chains ([decision 63](../decisions/0063-require-two-providers-for-cross-chain-payouts.md)). `expectedSeconds` is used for `etaSeconds` of the capabilities until it is measured',
  },
);

const token = group({
  tokenId: text(),
  address: address(),
  name: shownText,
  symbol: shownText,
  decimals: integer(0, 255),
  permits: Type.Optional(
    list(choice(permitKinds), {
      absent: 'what the chain says',
      meaning:
        'signatures that a token must take: `eip2612`, `eip3009`, `permit2`; the service does not start when the token differs',
      wrong: `: write any of ${permitKinds.join(', ')}`,
    }),
  ),
});

const cctp = group(
  {
    domain: integer(0, 4_294_967_295),
    transmitter: address(),
    messenger: address(),
    route: address(),
    tokenId: text(),
    maxPerOrderUsd: integer(1, 10_000_000, { default: 1_000_000 }),
  },
  {
    meaning:
      "Circle's CCTP: `domain`, `transmitter`, `messenger`, `route`, `tokenId`, and `maxPerOrderUsd` (1000000)",
  },
);

/** `chains[]`: the networks, their nodes, contracts and tokens. */
export const chain = group({
  name: text({
    meaning: 'the name is the first half of its token ids; the id is a text of digits',
    ...{ pattern: /^[a-z0-9-]{1,32}$/, wrong: 'is {}: use lower-case letters, digits and hyphens' },
  }),
  chainId: digits,
  rpcUrls: list(urlOf(/^https?:$/, 'an http or https'), {
    meaning:
      'in order of preference; a node that is slow, fails or lags moves behind the others for a while. Use two providers or more; with several chains you must',
  }),
  wsUrls: Type.Optional(
    list(urlOf(/^wss?:$/, 'a ws or wss'), {
      meaning: 'WebSocket addresses that announce new blocks. The service then asks over HTTP',
    }),
  ),
  proofs: choice(['required', 'quorum'], {
    default: 'required',
    meaning:
      'blocks and receipts must hash to what they claim. `quorum` is for chains where they cannot: then `finality.quorum` nodes must agree ([decision 19](../decisions/0019-verify-blocks-by-hash-and-quorum.md)). With a quorum of 1, nothing finds a log that the node leaves out at every reading before the books first agree ([decision 78](../decisions/0078-open-books-after-a-second-reading.md))',
  }),
  gateway: address({
    meaning: 'as printed by `deploy`',
    remedy: 'make the contracts with florin deploy, then run florin init again',
  }),
  vault: address(),
  startBlock: digits,
  previousGateways: Type.Optional(
    list(previous, {
      meaning:
        'earlier `gateway`, `vault` and `cctpRoute`, newest first: open orders are watched, settled and paid out there ([settlement](../runbook/settlement.md))',
    }),
  ),
  cctp: Type.Optional(cctp),
  finality,
  pollIntervalMs: integer(50, 60_000, { default: 1_000, meaning: '50 to 60,000' }),
  tokens: list(token, {
    meaning: "`tokenId`, `address`, `name`, `symbol`, `decimals`; symbol and decimals must be the contract's",
  }),
});
