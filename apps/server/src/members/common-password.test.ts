import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertHardToGuess, isEasyToGuess } from './common-password.ts';
import { commonPasswords } from './common-password-list.ts';

const names = ['Tea & Coffee Ltd', 'Zoë Müller', 'zoe.muller@example.com', 'pay.greenshop.io'];

const easy = [
  ...['123456789012', 'Password1234', 'P@ssw0rd2024', 'PASSWORDPASSWORD', 'qwertyuiop12', '1Q2w3e4r5t6y'],
  ...['aaaaaaaaaaaa', 'abcabcabcabc', 'abcdefghijkl', 'zyxwvutsrqpo', '111122223333', 'asdfghjklqwe'],
  ...['Dragon2024!!', '!!!sunshine!!!', 'welcome123456', 'qwerty-98765', 'iloveyou2009'],
  // Names of the person, the merchant and the installation.
  ...['teacoffee2024', 'Coffee-2024!!', 'zoemuller1990', 'Müller123456', 'greenshop2024', 'gr33nsh0p!!!!'],
  ...['greenshopzoe!', 'tea&coffeeltd', 'exampleexample'],
];
const hard = [
  ...[
    'correct horse battery',
    'another long password',
    'a password after the loss',
    'dragon monkey sunshine',
  ],
  ...[
    'greenshop orchid',
    'zoe likes trains',
    'x9!Kd0_pQz7w',
    'kfzmrtbqwpla',
    '748291650372',
    'Überraschung im Moor',
  ],
];

for (const password of easy)
  test(`${password} is easy to guess`, () => assert.equal(isEasyToGuess(password, names), true));
for (const password of hard)
  test(`${password} is taken`, () => assert.equal(isEasyToGuess(password, names), false));

test('every listed password is easy to guess, in capital letters as well', () => {
  assert.ok(commonPasswords.size > 250);
  const taken = [...commonPasswords].filter((password) => !isEasyToGuess(password.toUpperCase(), []));
  assert.deepEqual(taken, []);
});

test('the refusal names the field and says what to do', () => {
  assert.throws(
    () => assertHardToGuess('newPassword', 'password1234', []),
    /Invalid field: newPassword is easy to guess: .*Choose several words/,
  );
});
