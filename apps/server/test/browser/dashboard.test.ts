// What an owner does first. `dashboard.deep.test.ts` has all stories of the dashboard.
import './dashboard-owner.ts';
