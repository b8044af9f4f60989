#!/usr/bin/env node
import { speakMcp } from './mcp-speaker.ts';
import { merchantFamily } from './merchant-family.ts';
import { runProcess } from './process.ts';
import { programVersion } from './version.ts';

await runProcess(
  {
    name: 'florin',
    description:
      'The command line of a merchant: payments, links, refunds, and webhooks on your own machine.',
    version: programVersion,
    families: [merchantFamily],
  },
  { speakMcp },
);
