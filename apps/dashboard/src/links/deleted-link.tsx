import type { LinkHistory } from '@florin/protocol/link-history.ts';
import { ScreenLink } from '../app/screen-link.tsx';
import { Badge } from '../ui/badge.tsx';
import { buttonClass } from '../ui/button.tsx';
import { Notice } from '../ui/notice.tsx';
import { PageHeader } from '../ui/page.tsx';
import { Id, Time } from '../ui/value.tsx';
import { LinkVersions } from './link-versions.tsx';

/** What is left of a link that a member deleted: its name, its versions, and the way to its payments. */
export function DeletedLink({ history }: { readonly history: LinkHistory }) {
  const { linkId, updateAt, versions } = history;
  return (
    <>
      <PageHeader
        title={versions[0]?.terms.linkName ?? 'Link'}
        badge={<Badge>Deleted</Badge>}
        description={<Id id={linkId} isWhole />}
        actions={
          <ScreenLink path="payments" search={{ linkId } as never} className={buttonClass()}>
            Its payments
          </ScreenLink>
        }
      />
      <Notice title="This link is deleted">
        It was deleted <Time time={updateAt} />. Its page is gone, and payments that were under way could
        still be paid.
      </Notice>
      <LinkVersions history={history} />
    </>
  );
}
