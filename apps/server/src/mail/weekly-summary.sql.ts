import { statement } from '@florin/pg';

export const addWeek = statement({
  name: 'weekly_summary_add',
  parameters: { startsAt: 'timestamptz' },
  text: `insert into weekly_summaries (starts_at, done_to) values (:startsAt, '') on conflict do nothing`,
});

// The lock is the lease: one worker makes the e-mails of a week at a time, and one that dies frees it.
export const lockWeek = statement({
  name: 'weekly_summary_lock',
  parameters: { startsAt: 'timestamptz' },
  columns: { done_to: 'text' },
  text: `select done_to from weekly_summaries where starts_at = :startsAt and finished_at is null
   for update skip locked`,
});

export const moveWeek = statement({
  name: 'weekly_summary_move',
  parameters: { startsAt: 'timestamptz', doneTo: 'text', finishedAt: 'timestamptz?' },
  text: 'update weekly_summaries set done_to = :doneTo, finished_at = :finishedAt where starts_at = :startsAt',
});
