import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { migrate, statement } from '@florin/pg';
import { schema } from '#db/schema.ts';
import { wordsOf } from '#db/words.ts';
import { MerchantWorld } from '../../test/harness/merchant-fixture.ts';
import { addLinks } from '../sessions/search.fixture.ts';
import { indexLinkNames, linksNamed } from './link-name.ts';

let world: MerchantWorld;
before(async () => {
  world = await MerchantWorld.open();
});
after(() => world.close());

// As the version before 0350 had indexed it: signs of Chinese and Japanese together were one word.
const indexAsBefore = statement({
  name: 'link_name_test_before',
  parameters: { merchantId: 'text', word: 'text' },
  text: `with forgotten as (delete from schema_migrations where version = 350), named as (delete from link_words_queue)
   insert into link_words (merchant_id, link_id, word)
   select merchant_id, link_id, :word from links where merchant_id = :merchantId`,
});

// Half-width and circled forms become the usual signs. Rare signs are beyond the first 65,536.
for (const [linkName, word, text] of [
  ['緑茶セット', '緑茶セット', '茶セ'],
  ['ｾｯﾄ', 'セット', 'ット'],
  ['㋐㋑', 'アイ', 'イ'],
  ['𠀋𠮷', '𠀋𠮷', '𠮷'],
] as const)
  test(`a link that an older version named ${linkName} is found by ${text} after the migration`, async () => {
    const { database } = world;
    const merchantId = await world.addMerchant();
    const accountId = await world.addAccount(merchantId);
    await database.db.query(addLinks, { merchantId, accountId, linkName, count: 1 });
    await database.db.query(indexAsBefore, { merchantId, word });
    await migrate(database.url, schema);
    while (await database.db.transaction(indexLinkNames));
    const texts = wordsOf(text);
    const named = await linksNamed(database.db, { merchantId, texts });
    assert.deepEqual(
      [...named.values()].map((found) => [...found].sort()),
      [[...new Set(texts)].sort()],
    );
  });
