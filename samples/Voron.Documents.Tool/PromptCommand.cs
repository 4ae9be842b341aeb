using System.CommandLine;
using Spectre.Console;

namespace Voron.Documents.Tool;

/// <summary>Reads lines, and answers them, over one open store.</summary>
internal static class PromptCommand
{
    public static Command Create()
    {
        var store = new StoreOptions();
        var command = new Command("prompt", "Answers queries and commands, one a line, until 'exit' or the end of the input. 'help' lists them.");
        store.AddTo(command).SetAction(async (parsed, stop) =>
        {
            using var documents = store.OpenOrCreate(parsed);
            await documents.CreateCollectionAsync(store.CollectionOf(parsed), stop);
            using var ended = CancellationTokenSource.CreateLinkedTokenSource(stop);
            var expiring = ExpireAsync(documents, ended.Token);
            var prompt = new Prompt(documents, store.CollectionOf(parsed), AnsiConsole.Console);
            while (Read(prompt.Sign) is { } line && await prompt.AnswerAsync(line, stop))
            {
            }

            await ended.CancelAsync();
            await expiring;
            return 0;
        });
        return command;
    }

    // The editing of a line is that of the terminal.
    private static string? Read(string sign)
    {
        if (!Console.IsInputRedirected)
            Console.Write(sign);
        return Console.ReadLine();
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
