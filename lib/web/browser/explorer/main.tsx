import '../parts/base.css';
import './explorer.css';
import { render } from 'preact';
import { LocationProvider } from 'preact-iso';
import { applyTheme } from '../parts/settings';
import { App } from './app';
import { EXPLORER } from './data/status';
import { Session, SessionContext } from './state/session';

applyTheme();
const session = new Session();
session.start();
const page = document.getElementById('page');
if (page !== null) {
  page.replaceChildren();
  render(
    <SessionContext.Provider value={session}>
      <LocationProvider scope={EXPLORER}>
        <App />
      </LocationProvider>
    </SessionContext.Provider>,
    page
  );
}
