import { Florin } from '@florin/sdk';
import { argument, optional } from './command.ts';
import { UsageError } from './command-error.ts';
import { accessOf, accessOptions } from './connection.ts';
import type { MerchantCommand } from './resource.ts';

export const openCommand: MerchantCommand = {
  does: 'prints the address of the dashboard, of the documentation, or of the page of a session or a link',
  argument: argument('[what]', 'dashboard, docs, or the id of a session or a link (default: dashboard)'),
  examples: ['open --browser', 'open docs', 'open sess_… --browser', 'open lnk_…'],
  options: [optional('--browser', 'also shows it in the browser'), ...accessOptions],
  async run(options, outside) {
    const what = options.optional('what') ?? 'dashboard';
    const { url, key } = accessOf(options, outside);
    const address = await addressOf(what, new URL(url).origin, new Florin(key, { baseUrl: url }));
    if (options.flag('browser')) {
      // What a browser is given comes from the service: an address of another kind would start another program.
      if (!/^https?:$/.test(URL.parse(address)?.protocol ?? ''))
        throw new UsageError(`${address} is no address`);
      outside.launch?.(address);
    }
    return { text: address, json: { url: address } };
  },
};

async function addressOf(what: string, origin: string, florin: Florin): Promise<string> {
  if (what === 'dashboard' || what === 'docs') return `${origin}/${what}`;
  if (what.startsWith('sess_')) return (await florin.sessions.retrieve(what)).session.paymentUrl;
  if (what.startsWith('lnk_')) return (await florin.links.retrieve(what)).linkUrl;
  throw new UsageError(`there is no page of ${what}: give dashboard, docs, or the id of a session or a link`);
}
