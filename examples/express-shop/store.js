import { DatabaseSync } from 'node:sqlite';

/** Opens the shop's orders, and the ids of the events that it has handled. */
export function openStore(file) {
  const database = new DatabaseSync(file);
  database.exec(`
    create table if not exists orders (
      order_id text primary key, product text not null, session_id text not null default '',
      payment_url text not null default '', status text not null
    );
    create table if not exists handled (event_id text primary key);
  `);
  const insert = database.prepare(`insert into orders (order_id, product, status) values (?, ?, 'new')`);
  const open = database.prepare(
    `update orders set session_id = ?, payment_url = ?, status = 'open' where order_id = ? and status = 'new'`,
  );
  const find = database.prepare('select * from orders where order_id = ?');
  const move = database.prepare('update orders set status = ? where session_id = ?');
  const handle = database.prepare('insert or ignore into handled (event_id) values (?)');
  return {
    insert: (orderId, product) => insert.run(orderId, product),
    open: (orderId, { sessionId, paymentUrl }) => open.run(sessionId, paymentUrl, orderId),
    find: (orderId) => find.get(orderId),
    /** Moves the order of a session, once for each event: an event can come twice. */
    moveOnce(eventId, sessionId, status) {
      database.exec('begin immediate');
      try {
        if (handle.run(eventId).changes === 1) move.run(status, sessionId);
        database.exec('commit');
      } catch (error) {
        database.exec('rollback');
        throw error;
      }
    },
  };
}
