import assert from 'node:assert/strict';
import { test } from 'node:test';
import { walletAppLinks } from './wallet-apps.ts';

test('each wallet app opens the page that its link names', () => {
  const url = 'https://pay.example/checkout/sess_1?lang=de';
  const links = walletAppLinks(url);
  for (const { name, href } of links) {
    // However often it is encoded, the page's address is all there.
    let text = href;
    for (let depth = 0; depth < 3; depth += 1) text = decodeURIComponent(text);
    assert.ok(text.includes('pay.example/checkout/sess_1?lang=de'), `${name}: ${href}`);
    assert.equal(new URL(href).protocol, 'https:', name);
  }
  assert.deepEqual(
    links.map(({ href }) => new URL(href).host),
    ['link.metamask.io', 'go.cb-w.com', 'link.trustwallet.com', 'rnbwapp.com', 'www.okx.com', 'phantom.app'],
  );
});
