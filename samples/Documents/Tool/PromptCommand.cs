using System.CommandLine;
using Spectre.Console;

namespace Voron.Documents.Tool;

/// <summary>Reads lines, and answers them, over one open store.</summary>
internal static class PromptCommand
{
    private const int ExitFailure = 1;

    public static Command Create()
    {
        var store = new StoreOptions();
        var command = new Command("prompt", "Answers queries and commands, one a line, until 'exit', Ctrl+D or the end of the input. 'help' lists them.");
        store.AddTo(command).SetAction(async (parsed, stop) =>
        {
            using var documents = store.OpenOrCreate(parsed);
            using var ended = CancellationTokenSource.CreateLinkedTokenSource(stop);
            var expiring = ExpireAsync(documents, ended.Token);
            var prompt = new Prompt(documents, store.CollectionOf(parsed), AnsiConsole.Console);
            var editor = new LineEditor(static () => Console.ReadKey(intercept: true), Console.Out);
            while (Read(editor, prompt.Sign) is { } line && await prompt.AnswerAsync(line, stop))
            {
            }

            await ended.CancelAsync();
            await expiring;

            // A person has seen what failed; a script sees the exit code.
            return Console.IsInputRedirected && prompt.HasFailed ? ExitFailure : 0;
        });
        return command;
    }

    // While a line is typed, Ctrl+C is a key; while it is answered, it ends the command.
    private static string? Read(LineEditor editor, string sign)
    {
        if (Console.IsInputRedirected)
            return Console.ReadLine();
        Console.TreatControlCAsInput = true;
        try
        {
            return editor.Read(sign);
        }
        finally
        {
            Console.TreatControlCAsInput = false;
        }
    }

    private static async Task ExpireAsync(DocumentStore documents, CancellationToken stop)
    {
        using var timer = new PeriodicTimer(TimeSpan.FromMinutes(1));
        try
        {
            while (await timer.WaitForNextTickAsync(stop))
                await documents.ExpireAsync(stop);
        }
        catch (OperationCanceledException)
        {
            // The prompt has ended.
        }
        catch (VoronException e)
        {
            Console.Error.WriteLine($"Documents whose time is over are not deleted any more: {e.Message}");
        }
    }
}
