import { DatabaseSync } from 'node:sqlite';
import Florin, { usd } from '@florin/sdk';

export const products = {
  coffee: { name: 'Flat white', price: usd('4.50') },
  mug: { name: 'Florin mug', price: usd('25') },
};

/** Both are opened when they are needed: `next build` reads this file without any settings. */
let client;
export function florin() {
  client ??= new Florin(process.env.FLORIN_KEY, { baseUrl: process.env.FLORIN_URL });
  return client;
}
let database;
function prepare(statement) {
  database ??= new DatabaseSync(process.env.SHOP_DATABASE ?? 'shop.sqlite', { timeout: 5_000 });
  database.exec(`create table if not exists orders (order_id text primary key, product text not null,
    session_id text not null unique, payment_url text not null, status text not null default 'open')`);
  return database.prepare(statement);
}

export function insertOrder(order, product, { sessionId, paymentUrl }) {
  const insert = 'insert into orders (order_id, product, session_id, payment_url) values (?, ?, ?, ?)';
  prepare(insert).run(order, product, sessionId, paymentUrl);
}

export function findOrder(order) {
  return prepare('select product, payment_url, status from orders where order_id = ?').get(order);
}

/** Moves the order of a session from one of these states. Repeated, it changes nothing. */
export function moveOrder(sessionId, from, to) {
  const update = 'update orders set status = ? where session_id = ? and instr(?, status)';
  prepare(update).run(to, sessionId, from);
}
