import { statement } from '@florin/pg';
import { awaitLockOf } from '#db/advisory-lock.ts';

// Puts what counts in the same sums in line until its transaction ends: then nobody else adds to them between look and entry.
export const lockRelayedGas = statement(
  'relayed_gas_lock',
  ['text'],
  { locked: 'bool?' },
  `select true as locked from ${awaitLockOf('gasTotal', '$1::text')}`,
);

export const relayedGasSince = statement(
  'relayed_gas_since',
  ['int8', 'text', 'text', 'timestamptz'],
  { by_merchant: 'numeric', by_all: 'numeric' },
  `select coalesce(sum(gas) filter (where merchant_id = $3), 0) as by_merchant,
     coalesce(sum(gas) filter (where merchant_id = ''), 0) as by_all
   from relayed_gas where chain_id = $1 and kind = $2 and merchant_id in ($3, '') and hour >= $4`,
);

// For the merchant, and for all.
export const addRelayedGas = statement(
  'relayed_gas_add',
  ['int8', 'text', 'text', 'timestamptz', 'int8'],
  {},
  `insert into relayed_gas (chain_id, kind, merchant_id, hour, gas)
   select $1, $2, counted.merchant_id, $4, $5 from unnest(array['', $3::text]) as counted (merchant_id)
   on conflict (chain_id, kind, merchant_id, hour) do update set gas = relayed_gas.gas + excluded.gas`,
);

// For the look now and then: sums of one kind over $2 ($3 for all merchants together), those with most first.
export const relayedGasOver = statement(
  'relayed_gas_over',
  ['text', 'int8', 'int8', 'timestamptz', 'int8'],
  { chain_id: 'int8', merchant_id: 'text', gas: 'numeric' },
  `select chain_id, merchant_id, sum(gas) as gas from relayed_gas where kind = $1 and hour >= $4
   group by chain_id, merchant_id
   having sum(gas) >= case merchant_id when '' then $3::int8 else $2::int8 end
   order by gas desc, chain_id, merchant_id limit $5`,
);

export const deleteRelayedGas = statement(
  'relayed_gas_delete',
  ['timestamptz'],
  {},
  'delete from relayed_gas where hour < $1',
);
