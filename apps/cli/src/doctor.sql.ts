import { statement } from '@florin/server/operator';

export const databaseTime = statement(
  'doctor_time',
  [],
  { time: 'timestamptz' },
  'select clock_timestamp() as time',
);
