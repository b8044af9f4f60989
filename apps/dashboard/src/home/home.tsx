import { useMerchant } from '../app/merchant.ts';
import { mayDo } from '../app/permission.ts';
import { PageHeader, SkeletonPage } from '../ui/page.tsx';
import { Attention, useMatters } from './attention.tsx';
import { FirstSteps, useSteps } from './first-steps.tsx';
import { LatestSessions } from './latest-sessions.tsx';
import { Money } from './money.tsx';

/** What came in, what is on its way, and what needs a person. */
export default function Home() {
  const { role } = useMerchant();
  const { steps, isLoading } = useSteps();
  const { matters, failed, isLoading: isLooking } = useMatters();
  const seesPayments = mayDo(role, 'sessions:read');
  // What stands above the rest comes with it, so that nothing moves down.
  const isReady = !isLoading && !isLooking;
  return (
    <>
      <PageHeader title="Home" />
      {!isReady && <SkeletonPage />}
      <div className={isReady ? '' : 'hidden'}>
        {isReady && steps.length > 0 && <FirstSteps steps={steps} />}
        {isReady && matters.length + failed.length > 0 && <Attention matters={matters} failed={failed} />}
        {seesPayments && <Money isReady={isReady} />}
        {seesPayments && <LatestSessions isReady={isReady} />}
      </div>
    </>
  );
}
