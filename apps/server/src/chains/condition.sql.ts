import { type Row, statement } from '@florin/pg';

export const cursorsOfChains = statement({
  name: 'chain_condition_cursors',
  parameters: { chainIds: 'int8[]' },
  columns: {
    chain_id: 'int8',
    head_number: 'int8',
    head_time: 'timestamptz',
    final_number: 'int8',
    final_time: 'timestamptz',
    halted_reason: 'text',
  },
  text: `select chain_id, head_number, head_time, final_number, final_time, halted_reason
   from chain_cursors where chain_id = any (:chainIds)`,
});
export type ConditionCursor = Row<typeof cursorsOfChains>;
