import { statement } from '@florin/pg';

export const databaseTime = statement(
  'doctor_time',
  [],
  { time: 'timestamptz' },
  'select clock_timestamp() as time',
);
