import { statement } from '@florin/pg';
import { turnOf } from '#db/advisory-lock.ts';

// Transactions that count in the same total wait for each other: the sum stays true until the gas is added.
export const lockRelayedGas = turnOf('gasTotal');

export const relayedGasSince = statement({
  name: 'relayed_gas_since',
  parameters: { chainId: 'int8', kind: 'text', merchantId: 'text', since: 'timestamptz' },
  columns: { by_merchant: 'numeric', by_all: 'numeric' },
  text: `select coalesce(sum(gas) filter (where merchant_id = :merchantId), 0) as by_merchant,
     coalesce(sum(gas) filter (where merchant_id = ''), 0) as by_all
   from relayed_gas where chain_id = :chainId and kind = :kind and merchant_id in (:merchantId, '') and hour >= :since`,
});

// Counts for the merchant and, with an empty id, for all merchants.
export const addRelayedGas = statement({
  name: 'relayed_gas_add',
  parameters: { chainId: 'int8', kind: 'text', merchantId: 'text', hour: 'timestamptz', gas: 'int8' },
  text: `insert into relayed_gas (chain_id, kind, merchant_id, hour, gas)
   select :chainId, :kind, counted.merchant_id, :hour, :gas from unnest(array['', :merchantId::text]) as counted (merchant_id)
   on conflict (chain_id, kind, merchant_id, hour) do update set gas = relayed_gas.gas + excluded.gas`,
});

// The totals of one kind that reach their limit, largest first.
export const relayedGasOver = statement({
  name: 'relayed_gas_over',
  parameters: {
    kind: 'text',
    mostOfMerchant: 'int8',
    mostOfAll: 'int8',
    since: 'timestamptz',
    limit: 'int8',
  },
  columns: { chain_id: 'int8', merchant_id: 'text', gas: 'numeric' },
  text: `select chain_id, merchant_id, sum(gas) as gas from relayed_gas where kind = :kind and hour >= :since
   group by chain_id, merchant_id
   having sum(gas) >= case merchant_id when '' then :mostOfAll::int8 else :mostOfMerchant::int8 end
   order by gas desc, chain_id, merchant_id limit :limit`,
});

export const deleteRelayedGas = statement({
  name: 'relayed_gas_delete',
  parameters: { before: 'timestamptz' },
  text: 'delete from relayed_gas where hour < :before',
});
