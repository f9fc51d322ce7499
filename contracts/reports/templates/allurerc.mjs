// Configuration of Allure 3, filled in by contracts/reports/allure.py. Each realm is an environment; it is given
// no name, as Allure's rules compare names where there are any and keys where there are none.
const settings = __SETTINGS__;
const has = (realm) => ({ labels }) => labels.some(({ name, value }) => name === "realm" && value === realm);

export default {
  name: settings.name,
  output: settings.output,
  historyPath: settings.history,
  appendHistory: true,
  historyLimit: settings.limit,
  environments: Object.fromEntries(settings.realms.map((realm) => [realm, { matcher: has(realm) }])),
  plugins: {
    awesome: { options: { singleFile: true, reportLanguage: "en", groupBy: ["epic", "feature", "story"] } },
  },
};
