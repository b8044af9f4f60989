import { DatabaseSync } from 'node:sqlite';

/** Opens what the agent has bought, and what it has signed. The file holds signatures: keep it private. */
export function openBudget(file) {
  const database = new DatabaseSync(file);
  database.exec(`
    create table if not exists purchases (
      name text primary key, micro_usd integer not null, day text not null default (date('now'))
    );
    create table if not exists signed (key text primary key, value text not null);
  `);
  const find = database.prepare('select micro_usd from purchases where name = ?');
  const sum = database.prepare(
    `select coalesce(sum(micro_usd), 0) as spent from purchases where day = date('now')`,
  );
  const insert = database.prepare('insert into purchases (name, micro_usd) values (?, ?)');
  const read = database.prepare('select value from signed where key = ?');
  const write = database.prepare('insert or replace into signed (key, value) values (?, ?)');
  return {
    /** Sets the price of a purchase aside, once, and returns what is set aside. Refuses what would exceed the day. */
    reserve(name, price, dailyLimit) {
      database.exec('begin immediate');
      try {
        const earlier = find.get(name);
        if (earlier === undefined) {
          const { spent } = sum.get();
          if (BigInt(spent) + price > dailyLimit)
            throw new Error(`${price} Micro-USD and today's ${spent} exceed the day's ${dailyLimit}`);
          insert.run(name, price);
        }
        database.exec('commit');
        return earlier === undefined ? price : BigInt(earlier.micro_usd);
      } catch (error) {
        database.exec('rollback');
        throw error;
      }
    },
    /** For `payLink`, which finds its payment there after a crash. */
    store: {
      get: async (key) => read.get(key)?.value,
      set: async (key, value) => void write.run(key, value),
    },
  };
}
