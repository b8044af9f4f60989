import { statement } from '@florin/pg';

// Copies of the newest order's session and order, numbered from $1 to $2: open for a day, each with its own address.
export const copySessions = statement({
  name: 'bench_deposit_sessions',
  parameters: { first: 'int8', last: 'int8' },
  text: `insert into sessions overriding user value select (copied.r).* from (
     select jsonb_populate_record(s, jsonb_build_object(
       'session_id', 'sess_other' || lpad(number::text, 17, '0'), 'meta_data', '0x' || lpad(number::text, 64, '0'),
       'expiration_time', now() + interval '1 day')) as r
     from sessions s, generate_series(:first::int8, :last::int8) as number
     where s.session_id = (select session_id from orders order by created_at desc limit 1)) as copied`,
});

export const copyOrders = statement({
  name: 'bench_deposit_orders',
  parameters: { first: 'int8', last: 'int8' },
  text: `insert into orders select (copied.r).* from (
     select jsonb_populate_record(o, jsonb_build_object('order_id', '0x' || lpad(number::text, 64, '0'),
       'session_id', 'sess_other' || lpad(number::text, 17, '0'), 'receiver', '0x' || substr(md5(number::text) || md5('x' || number), 1, 40),
       'pay_by', extract(epoch from now())::int8 + 86400, 'created_at', now())) as r
     from orders o, generate_series(:first::int8, :last::int8) as number
     where o.order_id = (select order_id from orders order by created_at desc, order_id limit 1)) as copied`,
});
