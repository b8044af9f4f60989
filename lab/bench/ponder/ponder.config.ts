import { createConfig } from 'ponder';
import { parseAbi } from 'viem';

const { BENCH_RPC = '', BENCH_CHAIN_ID = '', BENCH_GATEWAY = '', BENCH_PAID = '' } = process.env;

export default createConfig({
  ordering: 'omnichain',
  chains: { bench: { id: Number(BENCH_CHAIN_ID), rpc: BENCH_RPC, pollingInterval: 100 } },
  contracts: {
    Gateway: {
      chain: 'bench',
      abi: parseAbi([BENCH_PAID as 'event Paid()']),
      address: BENCH_GATEWAY as `0x${string}`,
      startBlock: 1,
    },
  },
});
