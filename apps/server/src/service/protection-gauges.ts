import { boundTo, type Rpc, readContract } from '@florin/evm';
import { payoutVaultAbi } from '@florin/protocol/contract.gen.ts';
import { findNewestBackup } from '#backup/newest-backup.ts';
import type { Chains } from '#chains/chain.ts';
import type { ReadGauge, Reading } from '#telemetry/metrics.ts';

/** What protects money and data: the caps of the vaults, and the backups. */
export const protectionGauges = [
  {
    name: 'florin_cap_used_ratio',
    help: 'Share of the cap of a vault that this clock hour or day has used, from 0 to 1.',
    labels: ['token', 'window'],
  },
  {
    name: 'florin_backup_age_seconds',
    help: 'Age of the newest archive in the folder of the backups; +Inf without one.',
    labels: [],
  },
] as const satisfies readonly ReadGauge[];

/** The used share of each vault's caps, as the vaults say. A token without caps has none. Rejects without an answer. */
export async function readCapUse(
  { all }: Pick<Chains, 'all'>,
  rpcOf: (chainId: number) => Rpc,
  signal: AbortSignal,
): Promise<Reading[]> {
  const readings = await Promise.all(
    all.flatMap(({ chainId, vault, tokens }) =>
      tokens.map(async ({ tokenId, address }): Promise<Reading[]> => {
        const rpc = boundTo(rpcOf(chainId), signal);
        const asked = { abi: payoutVaultAbi, args: [address] } as const;
        const caps = await readContract(rpc, vault, { ...asked, functionName: 'capsOf' });
        const used = await readContract(rpc, vault, { ...asked, functionName: 'outflowOf' });
        if (caps === undefined || used === undefined) return [];
        const [inHour, inDay] = used;
        return [
          ...shareOf(tokenId, 'hour', inHour, caps.hourly),
          ...shareOf(tokenId, 'day', inDay, caps.daily),
        ];
      }),
    ),
  );
  return readings.flat();
}

function shareOf(token: string, window: string, used: bigint, cap: bigint): Reading[] {
  if (cap === 0n) return [];
  return [{ gauge: 'florin_cap_used_ratio', labels: { token, window }, value: Number(used) / Number(cap) }];
}

/** The age of the newest backup. A folder that cannot be read counts as one without a backup: a person must look. */
export async function readBackupAge(folder: string, now: Date): Promise<Reading> {
  const newest = await findNewestBackup(folder).catch(() => undefined);
  const value =
    newest === undefined ? Number.POSITIVE_INFINITY : Math.max(0, (now.getTime() - newest.getTime()) / 1_000);
  return { gauge: 'florin_backup_age_seconds', labels: {}, value };
}
