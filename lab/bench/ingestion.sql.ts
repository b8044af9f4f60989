import { statement } from '@florin/pg';

export const clearCursors = statement({
  name: 'bench_cursors_clear',
  parameters: { chainId: 'int8' },
  text: 'delete from chain_cursors where chain_id = :chainId',
});

export const clearBlocks = statement({
  name: 'bench_blocks_clear',
  parameters: { chainId: 'int8' },
  text: 'delete from chain_blocks where chain_id = :chainId',
});

export const clearEvents = statement({
  name: 'bench_events_clear',
  parameters: { chainId: 'int8' },
  text: 'delete from chain_events where chain_id = :chainId',
});

export const noteBlock = statement({
  name: 'bench_block_note',
  parameters: { chainId: 'int8', blockNumber: 'int8', blockHash: 'text', blockTime: 'timestamptz' },
  text: `insert into chain_blocks (chain_id, block_number, block_hash, parent_hash, block_time) values (:chainId, :blockNumber, :blockHash, :blockHash, :blockTime)`,
});
