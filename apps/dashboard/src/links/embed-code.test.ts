import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anchorCode, buttonCode } from './embed-code.ts';

const link = {
  linkId: 'lnk_1',
  linkUrl: 'https://pay.example.com/link/lnk_1?a=1&b=2',
  linkName: '<b>"Cap"',
};

test('the code of the button loads this installation’s script, and names the link', () => {
  assert.equal(
    buttonCode(link),
    '<script type="module" src="https://pay.example.com/embed/v1.js"></script>\n' +
      '<florin-button link="lnk_1">Pay for &lt;b&gt;&quot;Cap&quot;</florin-button>',
  );
});

test('the code of the plain link has the address of its page', () => {
  assert.equal(
    anchorCode(link),
    '<a href="https://pay.example.com/link/lnk_1?a=1&amp;b=2" rel="noopener">Pay for &lt;b&gt;&quot;Cap&quot;</a>',
  );
});
