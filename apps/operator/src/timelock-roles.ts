import { CommandError } from '@florin/cli';
import type { Hex } from '@florin/protocol/order.ts';
import { type PublicClient, parseAbiItem } from 'viem';

const roleGranted = parseAbiItem(
  'event RoleGranted(bytes32 indexed role, address indexed account, address indexed sender)',
);
/** The most blocks of one log request: many nodes refuse more. */
const spanBlocks = 10_000n;
/**
 * A year of blocks on the fastest chains would need too many requests; a time lock is created shortly before its use.
 */
const maxSpans = 500n;

/**
 * Every account that was ever granted one of the roles, from the time lock's own events: its contract has no list.
 * Throws a CommandError when the node has no logs that old.
 */
export async function findProposers(
  client: Pick<PublicClient, 'getBlockNumber' | 'getCode' | 'getLogs'>,
  timelock: Hex,
  roles: readonly Hex[],
): Promise<{ readonly account: Hex; readonly role: Hex }[]> {
  const head = await client.getBlockNumber();
  const found: { account: Hex; role: Hex }[] = [];
  for (let span = 0n, to = head; to >= 0n; span += 1n, to -= spanBlocks) {
    if (span === maxSpans)
      throw new CommandError(`the time lock ${timelock} is too old to be examined: use a new one`);
    const from = to >= spanBlocks ? to - spanBlocks + 1n : 0n;
    const logs = await client.getLogs({
      ...{ address: timelock, event: roleGranted, fromBlock: from, toBlock: to, strict: true },
      args: { role: [...roles] },
    });
    found.push(...logs.map(({ args }) => ({ account: args.account, role: args.role })));
    // Its constructor grants the first roles, so earlier blocks have none.
    if (from === 0n || !(await hadCode(client, timelock, from - 1n))) break;
  }
  if (found.length === 0) {
    throw new CommandError(
      `${timelock} has granted no role: it is not a time lock, or the node has no old logs`,
    );
  }
  return found;
}

async function hadCode(
  client: Pick<PublicClient, 'getCode'>,
  address: Hex,
  blockNumber: bigint,
): Promise<boolean> {
  try {
    const code = await client.getCode({ address, blockNumber });
    return code !== undefined && code !== '0x';
  } catch {
    // Only archive nodes have old state; searching further back is always safe.
    return true;
  }
}
