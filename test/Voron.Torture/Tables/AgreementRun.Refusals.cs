using Voron.Tables;
using Voron.Torture.Model;

namespace Voron.Torture.Tables;

/// <content>Calls that would wait for themselves, or skip rows, are refused.</content>
internal sealed partial class AgreementRun<TKey>
{
    // At the end, so that the calls before do not depend on it.
    private void RequireRefusals()
    {
        using (var patience = new CancellationTokenSource(TimeSpan.FromSeconds(5)))
        using (_environment.BeginWrite())
        {
            RequireRefused<InvalidOperationException>(
                "a second transaction of one thread", () => _environment.BeginWrite(TimeSpan.MaxValue, patience.Token).Dispose());
        }

        Read((table, _) =>
        {
            var reader = new TableReader<TKey>(_setting, table);
            foreach (var page in _pages)
            {
                foreach (var other in _pages.Where(other => other.Token.Length > 0 && !other.HasOrderOf(page)))
                    RequireRefused<PageTokenException>($"{page} at the token of {other}", () => reader.Continue(page, PageToken.Parse(other.Token)));
            }
        });
    }

    private void RequireRefused<TException>(string what, Action call)
        where TException : Exception
    {
        try
        {
            call();
        }
        catch (TException)
        {
            _run.Tally(typeof(TException).Name);
            return;
        }

        throw new ModelMismatchException($"{what} is not refused");
    }
}
