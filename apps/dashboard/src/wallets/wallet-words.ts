import { maxListedChanges } from '@florin/protocol/account-change.ts';
import { dateLocale, parseTime } from '../ui/format.ts';
import type { SettlementToken, WalletAccount, WalletChange } from './types.ts';

/** How soon a page shows what took effect, or what another member changed. */
export const rereadMs = 10_000;

/** How payments reach the wallet, in short. */
const modeTitles: Readonly<Record<WalletAccount['settlementMode'], string>> = {
  '': 'As the operator chose',
  escrow: 'After they are final',
  direct: 'Straight from the payer',
};

/** How payments reach a wallet; `inForce` is the mode of the installation, once it is known. */
export function modeTitle(
  mode: WalletAccount['settlementMode'],
  inForce: 'escrow' | 'direct' | undefined,
): string {
  if (mode !== '' || inForce === undefined) return modeTitles[mode];
  return `${modeTitles['']}: ${modeTitles[inForce].toLowerCase()}`;
}

/** The tokens under the names of their networks, in the order of the list. */
export function byNetwork(
  tokens: readonly SettlementToken[],
): readonly { readonly network: string; readonly tokens: readonly SettlementToken[] }[] {
  const networks = [...new Set(tokens.map(({ network }) => network))];
  return networks.map((network) => ({
    network,
    tokens: tokens.filter((token) => token.network === network),
  }));
}

/** The tokens of an account, as `USDC on Base`. A token that the installation no longer has keeps its id. */
export function tokenNames(tokenIds: readonly string[], tokens: readonly SettlementToken[]): string[] {
  return tokenIds.map((tokenId) => {
    const token = tokens.find((each) => each.tokenId === tokenId);
    return token === undefined ? tokenId : `${token.symbol} on ${token.network}`;
  });
}

/**
 * Whether the wallet of an account signed that settlements may go to it. Undefined where no change tells: the operator added
 * the account, or the change is too old for the list.
 */
export function isProvenWallet(
  { accountId, accountAddress }: Pick<WalletAccount, 'accountId' | 'accountAddress'>,
  changes: readonly WalletChange[],
): boolean | undefined {
  return changes.find(
    (change) =>
      change.status === 'done' && change.accountId === accountId && change.accountAddress === accountAddress,
  )?.isProven;
}

/** An address of a wallet, and when it held; `to` is empty for the present one, and `from` where no change tells. */
export interface HeldAddress {
  readonly address: string;
  readonly from: string;
  readonly to: string;
}

/** The addresses that a wallet had, the present one first. Those of changes that are too old for the list are missing. */
export function heldAddresses(
  { accountId, accountAddress, createAt }: Pick<WalletAccount, 'accountId' | 'accountAddress' | 'createAt'>,
  changes: readonly WalletChange[],
): HeldAddress[] {
  const moves = changes
    .filter(
      (change) => change.kind === 'address' && change.status === 'done' && change.accountId === accountId,
    )
    .toSorted((left, right) => (left.effectiveAt < right.effectiveAt ? 1 : -1));
  const first = changes.length < maxListedChanges ? createAt : '';
  const earlier = moves.map(({ previousAddress, effectiveAt }, index) => ({
    address: previousAddress,
    from: moves[index + 1]?.effectiveAt ?? first,
    to: effectiveAt,
  }));
  const present = { address: accountAddress, from: moves[0]?.effectiveAt ?? first, to: '' };
  return [present, ...earlier.filter(({ address }) => address !== '')];
}

const delayUnits = [
  { unit: 'day', seconds: 86_400 },
  { unit: 'hour', seconds: 3_600 },
  { unit: 'minute', seconds: 60 },
  { unit: 'second', seconds: 1 },
] as const;

/** A delay in the largest unit that it is a whole number of, as `1 day` or `36 hours`. */
export function delayText(seconds: number): string {
  const step = delayUnits.find((each) => seconds % each.seconds === 0) ?? delayUnits[3];
  const format = { style: 'unit', unit: step.unit, unitDisplay: 'long' } as const;
  return new Intl.NumberFormat('en', format).format(seconds / step.seconds);
}

/** Micro-USD that are on their way to one account. */
export function sumOnItsWay(
  rows: readonly { readonly accountId: string; readonly netValue: string }[],
  accountId: string,
): bigint {
  return rows
    .filter((row) => row.accountId === accountId)
    .reduce((sum, { netValue }) => sum + BigInt(netValue), 0n);
}

/** A time of the API to the minute in the reader's zone, as `Nov 25, 2026, 12:05 AM`. */
export function exactMinute(time: string): string {
  const parsed = parseTime(time);
  if (parsed === undefined) return '';
  return new Intl.DateTimeFormat(dateLocale(), { dateStyle: 'medium', timeStyle: 'short' }).format(parsed);
}
