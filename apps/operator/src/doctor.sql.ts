import { statement } from '@florin/pg';

export const databaseTime = statement({
  name: 'doctor_time',
  parameters: {},
  columns: { time: 'timestamptz' },
  text: 'select clock_timestamp() as time',
});
