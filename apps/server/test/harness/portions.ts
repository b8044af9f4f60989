/** All that comes in portions, in its order. */
export async function allOf<Entry>(portions: AsyncIterable<readonly Entry[]>): Promise<Entry[]> {
  const all: Entry[] = [];
  for await (const portion of portions) all.push(...portion);
  return all;
}
