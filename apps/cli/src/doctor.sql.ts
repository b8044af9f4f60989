import { statement } from '@florin/server/src/db/statement.ts';

export const databaseTime = statement(
  'doctor_time',
  [],
  { time: 'timestamptz' },
  'select clock_timestamp() as time',
);
